"""Mp4Writer: pictures into an H.264 video that any player and any browser shows."""

from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic.replay.export.media_libraries import pillow, pyav

if TYPE_CHECKING:
    from PIL import Image

FASTEST_FPS = 60.0
"""More than screens show; what is played faster leaves pictures out."""
_QUALITY = {"crf": "18", "preset": "fast"}
_FINEST_RATE = 10_000


class Mp4Writer:
    """Writes one file. H.264 needs even sizes: an odd one gets a black line at its edge."""

    def __init__(self, path: Path, width: int, height: int, fps: Fraction) -> None:
        av = pyav()
        self._size = (width + width % 2, height + height % 2)
        self._container = av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"})
        rate = fps.limit_denominator(_FINEST_RATE)
        self._stream = self._container.add_stream("h264", rate=rate, options=_QUALITY)
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._time_base = 1 / rate
        self._stream.codec_context.time_base = self._time_base
        self._written = 0

    def write(self, picture: "Image.Image") -> None:
        if picture.size != self._size:
            canvas = pillow().new("RGB", self._size)
            canvas.paste(picture, (0, 0))
            picture = canvas
        frame = pyav().VideoFrame.from_image(picture)
        frame.pts, frame.time_base = self._written, self._time_base
        self._written += 1
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Write what is left. Without it the file is of no use."""
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def abandon(self) -> None:
        """Let go of the file, whatever is the matter with it."""
        with suppress(pyav().FFmpegError):
            self._container.close()
