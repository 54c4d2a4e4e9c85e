"""VideoModel: the videos of one run, and the one that is played.

The Video tab shows it. Files are decoded on a thread; this has the playhead and what is known.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.number_text import significant, size
from gym_gui.runtime.models.playback import Playback
from gym_gui.runtime.models.playhead_model import PlayheadModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.runtime.video_files import VideoFile, read_videos
from gym_gui.video.feed import VideoDecoder, VideoFrame, VideoInfo
from mosaic.contract.errors import UserError

VideoPhase = Literal["empty", "loading", "none", "ready", "failed"]
"""`empty`: no run was chosen; `none`: the run has no video."""

_TOLD_BY_WRITERS = ("episode", "step", "return")


class VideoModel(PlayheadModel):
    """Made once, by the wiring."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        ticker: UiTicker,
        notices: Notices,
        parent: QObject | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(ticker, parent)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._now = now
        self.phase: VideoPhase = "empty"
        self.problem: UserError | None = None
        self.videos: tuple[VideoFile, ...] = ()
        self.current: VideoFile | None = None
        self.frame: VideoFrame | None = None
        """The newest picture that was there."""
        self.run_id = ""
        self._wanted_path: Path | None = None
        self._ticket = 0
        self._is_watched = False
        self._decoder: VideoDecoder | None = None
        self._ended: list[VideoDecoder] = []
        self._told: tuple[VideoInfo | None, UserError | None] = (None, None)
        self._is_missing = False
        """The picture at the playhead is on its way."""
        link.connected.connect(self._read)
        ticker.subscribe(self, self._on_tick)

    @property
    def has_video(self) -> bool:
        return bool(self.videos)

    @property
    def info(self) -> VideoInfo | None:
        return self._decoder.info if self._decoder else None

    @property
    def can_play(self) -> bool:
        return self.phase == "ready"

    @property
    def is_frame_current(self) -> bool:
        return self.frame is not None and self._decoder is not None and not self._is_missing

    @property
    def description(self) -> str:
        """Size, pace, length and what its writer told of it, in one line."""
        info, file = self.info, self.current
        if info is None or file is None:
            return ""
        parts = [
            f"{info.width} \N{MULTIPLICATION SIGN} {info.height}",
            f"{info.fps:g} frames/s",
            f"{info.duration_s:.1f} s",
            info.codec.upper(),
            size(file.size_bytes),
        ]
        for name in _TOLD_BY_WRITERS:
            value = file.meta.get(name)
            if isinstance(value, int | float):
                parts.append(f"{name} {significant(value)}")
        return " · ".join(parts)

    def time_words(self, index: int) -> str:
        """When in the video a picture is shown: `0:04.2`."""
        seconds = index / self.playback.fps
        return f"{int(seconds // 60)}:{seconds % 60:04.1f}"

    def show(self, run_id: str, path: Path | str | None = None) -> None:
        """The videos of a run, beginning with the one at `path` or the newest; "" for none."""
        self._drop()
        self.run_id = run_id
        self._wanted_path = Path(path) if path else None
        self.videos, self.current, self.problem = (), None, None
        self.phase = "loading" if run_id else "empty"
        self._tell_all()
        self._read()

    def refresh(self) -> None:
        """Look again: a run that goes on makes more of them."""
        if self.run_id and self._link.has_client:
            self._wanted_path = self.current.path if self.current else self._wanted_path
            self._read()

    def choose(self, path: Path) -> None:
        """Play another one of `videos`, from its start."""
        chosen = next((file for file in self.videos if file.path == path), None)
        if chosen is None:
            return
        self._drop()
        self.current, self.problem, self.phase = chosen, None, "loading"
        self._decode()
        self._tell_all()

    def set_watched(self, is_watched: bool) -> None:
        """Nothing is decoded before somebody looks, and nothing plays when nobody does."""
        self._is_watched = is_watched
        if not is_watched:
            self.pause()
        elif self._decoder is None and self.current is not None:
            self._decode()

    def retry(self) -> None:
        """After a failure: open the file again, or ask the daemon again."""
        if self.current is not None:
            self.choose(self.current.path)
        elif self.run_id:
            self.show(self.run_id, self._wanted_path)

    def close(self) -> None:
        """Does not wait."""
        self.show("")

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether its threads have ended."""
        return all([decoder.join(timeout_s) for decoder in self._ended])  # noqa: C419 - wait for each

    # How it comes about

    def _decode(self) -> None:
        if self._is_watched and self.current is not None:
            self._decoder = VideoDecoder(self.current.path, self._ticker.wake)
            self._ticker.wake()

    def _drop(self) -> None:
        self._ticket += 1
        if self._decoder is not None:
            self._decoder.close()
            self._ended = [each for each in (*self._ended, self._decoder) if not each.join(0.0)]
        self._decoder = self.frame = None
        self._is_missing = False
        self._told = (None, None)
        before, self.playback = self.playback, Playback()
        self.playback.speed, self.playback.is_looping = before.speed, before.is_looping

    def _tell_all(self) -> None:
        self.changed.emit()
        self.playhead_changed.emit()

    def _read(self) -> None:
        if not self.run_id or not self._link.has_client:
            return
        run_id, ticket = self.run_id, self._ticket
        self._tasks.run(
            self,
            lambda: read_videos(self._link, run_id),
            lambda videos: self._take_videos(ticket, videos),
            lambda error: self._take_failure(ticket, error),
        )

    def _take_failure(self, ticket: int, error: UserError) -> None:
        if ticket == self._ticket:
            self.phase, self.problem = "failed", error
            self.changed.emit()

    def _take_videos(self, ticket: int, videos: tuple[VideoFile, ...]) -> None:
        if ticket != self._ticket:
            return
        self.videos = videos
        paths = [file.path for file in videos]
        if self.current is not None and self.current.path in paths:
            self.changed.emit()
        elif videos:
            wanted = self._wanted_path
            self.choose(wanted if wanted in paths and wanted is not None else paths[-1])
        else:
            self.phase = "none"
            self.changed.emit()

    def _on_tick(self) -> bool:
        decoder, playback = self._decoder, self.playback
        if decoder is None:
            return False
        is_new = self._take_told(decoder)
        if self._is_missing and (found := decoder.frame(self.playhead)) is not None:
            self.frame, self._is_missing = found, False
            self.playhead_changed.emit()
            is_new = True
        before = (playback.is_playing, playback.is_waiting)
        if playback.advance(self._now(), lambda index: decoder.frame(index) is not None):
            self._show_playhead()
        elif playback.is_waiting:
            decoder.want(self.playhead + 1)
        if before != (playback.is_playing, playback.is_waiting):
            self.changed.emit()
        return is_new or playback.is_playing

    def _take_told(self, decoder: VideoDecoder) -> bool:
        told = (decoder.info, decoder.error)
        if told == self._told:
            return False
        self._told = told
        info, error = told
        if error is not None:
            self.phase, self.problem = "failed", error
            self.playback.pause()
        elif info is not None:
            is_first = self.phase == "loading"
            self.phase = "ready"
            self.playback.last, self.playback.fps = info.frames - 1, info.fps
            if is_first or self.playhead > self.playback.last:
                self.playback.move_to(self.playhead)
                self._show_playhead()
        self.changed.emit()
        return True

    def _show_playhead(self) -> None:
        if self._decoder is not None:
            self._decoder.want(self.playhead)
            found = self._decoder.frame(self.playhead)
            self.frame, self._is_missing = found or self.frame, found is None
        self.playhead_changed.emit()
