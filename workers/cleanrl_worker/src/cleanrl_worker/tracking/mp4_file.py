"""Mp4File: encodes frames as H.264 video with PyAV.

Frames are encoded as they arrive, so memory does not depend on the length of an episode. A
separate module because it imports the optional package `av`.
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
_MAX_RATE_DENOMINATOR = 1000


class Mp4File:
    """One video. H.264 needs even sizes: an odd size is padded with a black line."""

    def __init__(self, path: Path, first_frame: Any, fps: float) -> None:
        """`first_frame` sets the size of the video; it is not written yet."""
        height, width = first_frame.shape[:2]
        self._canvas = np.zeros((height + height % 2, width + width % 2, 3), dtype=np.uint8)
        self._container: Any = av.open(str(path), "w", format="mp4")
        rate = Fraction(fps).limit_denominator(_MAX_RATE_DENOMINATOR)
        self._stream: Any = self._container.add_stream("h264", rate=rate, options=_ENCODING)
        self._stream.height, self._stream.width = self._canvas.shape[:2]
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.thread_count = 1  # the training needs the other CPUs
        self.frames = 0

    def write(self, frame: Any) -> None:
        """`frame` is an array of bytes, height x width x 3."""
        canvas = self._canvas
        if frame.shape != canvas.shape:
            height = min(frame.shape[0], canvas.shape[0])
            width = min(frame.shape[1], canvas.shape[1])
            canvas[:] = 0
            canvas[:height, :width] = frame[:height, :width]
            frame = canvas
        video_frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
        self._container.mux(self._stream.encode(video_frame))
        self.frames += 1

    def finish(self) -> None:
        """Write the remaining packets; without this the file is not playable."""
        self._container.mux(self._stream.encode(None))
        self._container.close()

    def abandon(self) -> None:
        """Close the file and ignore encoding errors."""
        with contextlib.suppress(av.FFmpegError):
            self._container.close()
