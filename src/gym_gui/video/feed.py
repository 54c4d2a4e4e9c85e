"""VideoDecoder: pictures of a video file, decoded on a thread, around where somebody looks.

`VideoModel` makes one per file. A seek goes to the key frame before the picture and decodes forward
from there; pictures near the playhead are kept, so that short ways back cost nothing.
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
_ROOM_BYTES = 96 << 20
_FEWEST_KEPT = 12
_FORWARD = 60
"""A picture that is no farther ahead is decoded to; for one that is, a key frame is looked for."""
_DEFAULT_FPS = 30.0
_ELSEWHERE = "Export one from Replay instead, or train again with video."


@dataclass(frozen=True, slots=True)
class VideoFrame:
    """RGB, row by row, each row `stride` bytes long."""

    index: int
    width: int
    height: int
    stride: int
    pixels: bytes


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What the file says of itself; `frames` is corrected when its end is reached."""

    width: int
    height: int
    fps: float
    frames: int
    codec: str

    @property
    def duration_s(self) -> float:
        return self.frames / self.fps


class VideoDecoder:
    """Begins at once. Everything but `join` returns at once; any thread may call it."""

    def __init__(self, path: Path, wake: Callable[[], None]) -> None:
        """`wake` is called on the decoder's thread when there is news."""
        self.path = path
        self.info: VideoInfo | None = None
        self.error: UserError | None = None
        self._wake = wake
        self._changed = threading.Condition()
        self._wanted = 0
        self._frames: dict[int, VideoFrame] = {}
        self._most_kept = _FEWEST_KEPT
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="video decoder", daemon=True)
        self._thread.start()

    def want(self, index: int) -> None:
        """This picture next, then those after it."""
        with self._changed:
            self._wanted = index
            self._changed.notify_all()

    def frame(self, index: int) -> VideoFrame | None:
        """The picture, if it is in memory."""
        return self._frames.get(index)

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # On the thread

    def _run(self) -> None:
        try:
            av = pyav()
            try:
                with av.open(str(self.path)) as container:
                    self._serve(container)
            except (av.FFmpegError, OSError) as error:
                self.error = _unplayable(self.path, error)
        except UserError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - the edge of the thread
            _log.exception("C343 decoding a video broke by a bug")
            self.error = _unplayable(self.path, error)
        self._wake()

    def _serve(self, container: Any) -> None:
        if not container.streams.video:
            raise UserError(
                f"{self.path.name} has no pictures in it.", remedy=_ELSEWHERE, code="C344"
            )
        stream = container.streams.video[0]
        self.info = info = _info_of(container, stream)
        kept = _ROOM_BYTES // max(1, 3 * info.width * info.height)
        self._most_kept = max(_FEWEST_KEPT, int(kept))
        self._wake()
        pictures: Iterator[VideoFrame] = _decoded(container, stream, info, 0)
        last: VideoFrame | None = None
        while (missing := self._wait_for_missing()) is not None:
            position = last.index if last is not None else -1
            if not position < missing <= position + _FORWARD:
                pictures, last = _decoded(container, stream, info, missing), None
            for picture in pictures:
                is_reached = self._keep(last, picture)
                last = picture
                if is_reached:
                    break
            else:
                if last is None and missing == 0:
                    raise UserError(
                        f"{self.path.name} has no pictures in it.", remedy=_ELSEWHERE, code="C344"
                    )
                self._keep_end(last)
                last = None

    def _wait_for_missing(self) -> int | None:
        """The first picture from the wanted one on that is not here; None when it is all over."""
        with self._changed:
            while not self._is_closed:
                frames = self.info.frames if self.info else 1
                ahead = max(1, self._most_kept // 2)
                wanted = min(self._wanted, frames - 1)
                for index in range(wanted, min(frames, wanted + ahead)):
                    if index not in self._frames:
                        return index
                self._changed.wait()
            return None

    def _keep(self, before: VideoFrame | None, picture: VideoFrame) -> bool:
        """Whether the thread should look around now: at what is wanted, or how far it is."""
        with self._changed:
            # A file whose pictures do not come evenly shows one for longer than the others.
            if before is not None:
                for index in range(before.index + 1, picture.index):
                    self._frames.setdefault(index, before)
            self._frames[picture.index] = picture
            while len(self._frames) > self._most_kept:
                farthest = max(self._frames, key=lambda index: abs(index - self._wanted))
                del self._frames[farthest]
            is_near = picture.index >= self._wanted
        if is_near:
            self._wake()
        return is_near or self._is_closed or self._wanted < picture.index - _FORWARD

    def _keep_end(self, last: VideoFrame | None) -> None:
        """The file ended: what it announced beyond its last picture is not there."""
        with self._changed:
            known = [*self._frames, *([last.index] if last else [])]
            if self.info is not None:
                frames = max(known, default=0) + 1
                info = self.info
                self.info = VideoInfo(info.width, info.height, info.fps, frames, info.codec)
        self._wake()


def _info_of(container: Any, stream: Any) -> VideoInfo:
    fps = float(stream.average_rate or _DEFAULT_FPS)
    seconds = float(container.duration or 0) / 1_000_000
    return VideoInfo(
        width=stream.codec_context.width,
        height=stream.codec_context.height,
        fps=fps,
        frames=max(1, stream.frames or round(seconds * fps)),
        codec=stream.codec_context.name,
    )


def _decoded(container: Any, stream: Any, info: VideoInfo, index: int) -> Iterator[VideoFrame]:
    """Pictures from the key frame at or before `index` on."""
    begin = stream.start_time or 0
    container.seek(begin + int(index / info.fps / stream.time_base), stream=stream)
    for frame in container.decode(stream):
        if frame.pts is None:
            continue
        number = round(float((frame.pts - begin) * stream.time_base) * info.fps)
        shown = frame.reformat(format="rgb24")
        plane = shown.planes[0]
        yield VideoFrame(number, shown.width, shown.height, plane.line_size, bytes(plane))


def _unplayable(path: Path, error: Exception) -> UserError:
    if isinstance(error, FileNotFoundError):
        return UserError(
            f"{path.name} is not there any more.",
            remedy=f"It was moved or deleted. {_ELSEWHERE}",
            code="C345",
        )
    reason = getattr(error, "strerror", None) or str(error)
    return UserError(
        f"{path.name} cannot be played: {reason}.",
        remedy=f"The file is damaged or not finished yet. {_ELSEWHERE}",
        code="C346",
    )
