"""Small videos for tests; the grey level of a frame identifies it."""

from fractions import Fraction
from pathlib import Path

from PIL import Image

from mosaic.replay.export.video_writers import Mp4Writer

SIDE = 32


def grey_of(index: int) -> int:
    """Return the grey level of a frame, distinct from its neighbours after lossy encoding."""
    return 20 + (index * 37) % 210


def write_video(path: Path, frames: int, fps: int = 20) -> Path:
    """Write an MP4 file with this many frames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = Mp4Writer(path, SIDE, SIDE, Fraction(fps))
    for index in range(frames):
        writer.write(Image.new("RGB", (SIDE, SIDE), (grey_of(index),) * 3))
    writer.finish()
    return path
