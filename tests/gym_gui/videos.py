"""Small videos for tests: each picture says its number in its colour."""

from fractions import Fraction
from pathlib import Path

from PIL import Image

from mosaic.replay.export.video_writers import Mp4Writer

SIDE = 32


def grey_of(index: int) -> int:
    """Far enough from its neighbours' to be told apart after a lossy encoding."""
    return 20 + (index * 37) % 210


def write_video(path: Path, frames: int, fps: int = 20) -> Path:
    """An MP4 file of so many pictures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = Mp4Writer(path, SIDE, SIDE, Fraction(fps))
    for index in range(frames):
        writer.write(Image.new("RGB", (SIDE, SIDE), (grey_of(index),) * 3))
    writer.finish()
    return path
