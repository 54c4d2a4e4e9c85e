"""VideoDecoder: decodes the frames of a video file near the playhead on a thread.

`VideoModel` creates one per file. A seek decodes from the previous key frame; decoded frames near
the playhead are cached.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mosaic.contract.errors import UserError
from mosaic.replay.export.media_libraries import pyav

_log = logging.getLogger(__name__)
_CACHE_BYTES = 96 << 20
_MIN_CACHED_FRAMES = 12
_MAX_DECODE_AHEAD = 60
"""Frames ahead that are reached by decoding; farther ones by a seek."""
_DEFAULT_FPS = 30.0
_REMEDY = "Export a video from Replay, or train again with video."


@dataclass(frozen=True, slots=True)
class VideoFrame:
    """RGB pixels in rows of `stride` bytes."""

    index: int
    width: int
    height: int
    stride: int
    pixels: bytes


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """Properties of the file. `frames` is corrected when the end is reached."""

    width: int
    height: int
    fps: float
    frames: int
    codec: str

    @property
    def duration_s(self) -> float:
        return self.frames / self.fps


class VideoDecoder:
    """Starts immediately. Any thread may call it; only `join` blocks."""

    def __init__(self, path: Path, wake: Callable[[], None]) -> None:
        """`wake` is called on the thread of the decoder after a change."""
        self.path = path
        self.info: VideoInfo | None = None
        self.error: UserError | None = None
        self._wake = wake
        self._changed = threading.Condition()
        self._requested = 0
        self._frames: dict[int, VideoFrame] = {}
        self._max_cached = _MIN_CACHED_FRAMES
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="video decoder", daemon=True)
        self._thread.start()

    def request(self, index: int) -> None:
        """Decode this frame next, then the following ones."""
        with self._changed:
            self._requested = index
            self._changed.notify_all()

    def frame(self, index: int) -> VideoFrame | None:
        """Return a frame if it is cached."""
        return self._frames.get(index)

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # Decoder thread.

    def _run(self) -> None:
        try:
            av = pyav()
            try:
                with av.open(str(self.path)) as container:
                    self._decode(container)
            except (av.FFmpegError, OSError) as error:
                self.error = _video_error(self.path, error)
        except UserError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - thread boundary
            _log.exception("C343 unexpected error while decoding a video")
            self.error = _video_error(self.path, error)
        self._wake()

    def _decode(self, container: Any) -> None:
        if not container.streams.video:
            raise UserError(f"{self.path.name} contains no frames.", remedy=_REMEDY, code="C344")
        stream = container.streams.video[0]
        self.info = info = _read_info(container, stream)
        capacity = _CACHE_BYTES // max(1, 3 * info.width * info.height)
        self._max_cached = max(_MIN_CACHED_FRAMES, int(capacity))
        self._wake()
        frames: Iterator[VideoFrame] = _decode_from(container, stream, info, 0)
        last: VideoFrame | None = None
        while (missing := self._wait_for_missing()) is not None:
            position = last.index if last is not None else -1
            if not position < missing <= position + _MAX_DECODE_AHEAD:
                frames, last = _decode_from(container, stream, info, missing), None
            for frame in frames:
                must_check = self._store(last, frame)
                last = frame
                if must_check:
                    break
            else:
                if last is None and missing == 0:
                    raise UserError(
                        f"{self.path.name} contains no frames.", remedy=_REMEDY, code="C344"
                    )
                self._store_end(last)
                last = None

    def _wait_for_missing(self) -> int | None:
        """Return the first missing frame from the requested one on; None once closed."""
        with self._changed:
            while not self._is_closed:
                frames = self.info.frames if self.info else 1
                ahead = max(1, self._max_cached // 2)
                first = min(self._requested, frames - 1)
                for index in range(first, min(frames, first + ahead)):
                    if index not in self._frames:
                        return index
                self._changed.wait()
            return None

    def _store(self, previous: VideoFrame | None, frame: VideoFrame) -> bool:
        """Cache a frame. Return whether the thread must check for another request."""
        with self._changed:
            # With a variable frame rate, the previous frame fills the gap.
            if previous is not None:
                for index in range(previous.index + 1, frame.index):
                    self._frames.setdefault(index, previous)
            self._frames[frame.index] = frame
            while len(self._frames) > self._max_cached:
                farthest = max(self._frames, key=lambda index: abs(index - self._requested))
                del self._frames[farthest]
            is_reached = frame.index >= self._requested
        if is_reached:
            self._wake()
        return is_reached or self._is_closed or self._requested < frame.index - _MAX_DECODE_AHEAD

    def _store_end(self, last: VideoFrame | None) -> None:
        """Correct the number of frames after the last one was decoded."""
        with self._changed:
            indices = [*self._frames, *([last.index] if last else [])]
            if self.info is not None:
                frames = max(indices, default=0) + 1
                info = self.info
                self.info = VideoInfo(info.width, info.height, info.fps, frames, info.codec)
        self._wake()


def _read_info(container: Any, stream: Any) -> VideoInfo:
    fps = float(stream.average_rate or _DEFAULT_FPS)
    seconds = float(container.duration or 0) / 1_000_000
    return VideoInfo(
        width=stream.codec_context.width,
        height=stream.codec_context.height,
        fps=fps,
        frames=max(1, stream.frames or round(seconds * fps)),
        codec=stream.codec_context.name,
    )


def _decode_from(container: Any, stream: Any, info: VideoInfo, index: int) -> Iterator[VideoFrame]:
    """Yield frames from the key frame at or before `index` on."""
    start = stream.start_time or 0
    container.seek(start + int(index / info.fps / stream.time_base), stream=stream)
    for frame in container.decode(stream):
        if frame.pts is None:
            continue
        number = round(float((frame.pts - start) * stream.time_base) * info.fps)
        image = frame.reformat(format="rgb24")
        plane = image.planes[0]
        yield VideoFrame(number, image.width, image.height, plane.line_size, bytes(plane))


def _video_error(path: Path, error: Exception) -> UserError:
    if isinstance(error, FileNotFoundError):
        return UserError(
            f"{path.name} no longer exists.",
            remedy=f"It was moved or deleted. {_REMEDY}",
            code="C345",
        )
    reason = getattr(error, "strerror", None) or str(error)
    return UserError(
        f"{path.name} cannot be played: {reason}.",
        remedy=f"The file is damaged or not finished yet. {_REMEDY}",
        code="C346",
    )
