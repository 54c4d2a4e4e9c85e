"""Mp4File: pictures into an H.264 video that any player and any browser shows, through PyAV.

Pictures are encoded as they come, so that a long episode takes no more memory than a short one.
"""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import av
import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

_ENCODING = {"crf": "23", "preset": "veryfast"}
_FINEST_RATE = 1000


class Mp4File:
    """One video. H.264 needs even sizes: an odd one gets a black line at its edge."""

    def __init__(self, path: Path, first: Any, fps: float) -> None:
        """`first` is a picture of the size that all are going to have; it is not written yet."""
        height, width = first.shape[:2]
        self._canvas = np.zeros((height + height % 2, width + width % 2, 3), dtype=np.uint8)
        self._container: Any = av.open(str(path), "w", format="mp4")
        rate = Fraction(fps).limit_denominator(_FINEST_RATE)
        self._stream: Any = self._container.add_stream("h264", rate=rate, options=_ENCODING)
        self._stream.height, self._stream.width = self._canvas.shape[:2]
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.thread_count = 1  # the others belong to the training
        self.frames = 0

    def write(self, picture: Any) -> None:
        """`picture` is height x width x 3, of bytes."""
        canvas = self._canvas
        if picture.shape != canvas.shape:
            height = min(picture.shape[0], canvas.shape[0])
            width = min(picture.shape[1], canvas.shape[1])
            canvas[:] = 0
            canvas[:height, :width] = picture[:height, :width]
            picture = canvas
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        self._container.mux(self._stream.encode(frame))
        self.frames += 1

    def finish(self) -> None:
        """Write what is left. Without it the file is of no use."""
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def abandon(self) -> None:
        """Let go of the file, whatever is the matter with it."""
        with contextlib.suppress(av.FFmpegError):
            self._container.close()
