"""VideoModel: the videos of one run, the selected one and its playhead.

Shown by the Video tab. A `VideoDecoder` decodes the file on a thread.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject

from gym_gui.runtime.models.formatting import format_significant
from gym_gui.runtime.models.playback import Playback, PlayheadModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.run_metadata import VideoFile, fetch_videos
from gym_gui.video.feed import VideoDecoder, VideoFrame, VideoInfo
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_size

VideoPhase = Literal["empty", "loading", "none", "ready", "failed"]
"""`empty`: no run is selected; `none`: the run has no video."""

_METADATA_KEYS = ("episode", "step", "return")


class VideoModel(PlayheadModel):
    """Created once, by `Models`."""

    def __init__(
        self,
        services: Services,
        parent: QObject | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(services.ticker, parent)
        self._services = services
        self._now = now
        self.phase: VideoPhase = "empty"
        self.problem: UserError | None = None
        self.videos: tuple[VideoFile, ...] = ()
        self.current: VideoFile | None = None
        self.frame: VideoFrame | None = None
        """The last decoded frame at the playhead."""
        self.run_id = ""
        self._requested_path: Path | None = None
        self._ticket = 0
        self._is_visible = False
        self._decoder: VideoDecoder | None = None
        self._closed_decoders: list[VideoDecoder] = []
        self._decoder_state: tuple[VideoInfo | None, UserError | None] = (None, None)
        self._is_missing = False
        """The frame at the playhead is being decoded."""
        services.link.connected.connect(self._read)
        services.ticker.subscribe(self, self._on_tick)

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
        """Size, frame rate, duration, codec and metadata in one line."""
        info, file = self.info, self.current
        if info is None or file is None:
            return ""
        fields = [
            f"{info.width} \N{MULTIPLICATION SIGN} {info.height}",
            f"{info.fps:g} frames/s",
            f"{info.duration_s:.1f} s",
            info.codec.upper(),
            format_size(file.size_bytes),
        ]
        for name in _METADATA_KEYS:
            value = file.meta.get(name)
            if isinstance(value, int | float):
                fields.append(f"{name} {format_significant(value)}")
        return " · ".join(fields)

    def time_text(self, index: int) -> str:
        """Return the time of a frame, such as `0:04.2`."""
        seconds = index / self.playback.fps
        return f"{int(seconds // 60)}:{seconds % 60:04.1f}"

    def show(self, run_id: str, path: Path | str | None = None) -> None:
        """Show the videos of a run and select the one at `path`, or the newest; "" shows none."""
        self._reset()
        self.run_id = run_id
        self._requested_path = Path(path) if path else None
        self.videos, self.current, self.problem = (), None, None
        self.phase = "loading" if run_id else "empty"
        self._emit_changed()
        self._read()

    def refresh(self) -> None:
        """Read the list again: a running run may have new videos."""
        if self.run_id and self._services.link.has_client:
            self._requested_path = self.current.path if self.current else self._requested_path
            self._read()

    def select(self, path: Path) -> None:
        """Open one of `videos` at its start."""
        selected = next((file for file in self.videos if file.path == path), None)
        if selected is None:
            return
        self._reset()
        self.current, self.problem, self.phase = selected, None, "loading"
        self._decode()
        self._emit_changed()

    def set_visible(self, is_visible: bool) -> None:
        """Set whether the tab is visible. Decodes and plays only while it is."""
        self._is_visible = is_visible
        if not is_visible:
            self.pause()
        elif self._decoder is None and self.current is not None:
            self._decode()

    def retry(self) -> None:
        """After a failure, open the file or read the list again."""
        if self.current is not None:
            self.select(self.current.path)
        elif self.run_id:
            self.show(self.run_id, self._requested_path)

    def close(self) -> None:
        """Close the decoder without waiting for its thread."""
        self.show("")

    def join(self, timeout_s: float) -> bool:
        """After `close`: return whether the decoder threads have ended."""
        return all([decoder.join(timeout_s) for decoder in self._closed_decoders])  # noqa: C419 - wait for each

    # Updates.

    def _decode(self) -> None:
        if self._is_visible and self.current is not None:
            self._decoder = VideoDecoder(self.current.path, self._ticker.wake)
            self._ticker.wake()

    def _reset(self) -> None:
        self._ticket += 1
        if self._decoder is not None:
            self._decoder.close()
            decoders = (*self._closed_decoders, self._decoder)
            self._closed_decoders = [decoder for decoder in decoders if not decoder.join(0.0)]
        self._decoder = self.frame = None
        self._is_missing = False
        self._decoder_state = (None, None)
        previous, self.playback = self.playback, Playback()
        self.playback.speed, self.playback.is_looping = previous.speed, previous.is_looping

    def _emit_changed(self) -> None:
        self.changed.emit()
        self.playhead_changed.emit()

    def _read(self) -> None:
        if not self.run_id or not self._services.link.has_client:
            return
        run_id, ticket = self.run_id, self._ticket
        self._services.call(
            self,
            lambda client: fetch_videos(client, run_id),
            lambda videos: self._apply_videos(ticket, videos),
            lambda error: self._handle_error(ticket, error),
        )

    def _handle_error(self, ticket: int, error: UserError) -> None:
        if ticket == self._ticket:
            self.phase, self.problem = "failed", error
            self.changed.emit()

    def _apply_videos(self, ticket: int, videos: tuple[VideoFile, ...]) -> None:
        if ticket != self._ticket:
            return
        self.videos = videos
        paths = [file.path for file in videos]
        if self.current is not None and self.current.path in paths:
            self.changed.emit()
        elif videos:
            path = self._requested_path
            self.select(path if path is not None and path in paths else paths[-1])
        else:
            self.phase = "none"
            self.changed.emit()

    def _on_tick(self) -> bool:
        decoder, playback = self._decoder, self.playback
        if decoder is None:
            return False
        is_changed = self._apply_decoder_state(decoder)
        if self._is_missing and (frame := decoder.frame(self.playhead)) is not None:
            self.frame, self._is_missing = frame, False
            self.playhead_changed.emit()
            is_changed = True
        before = (playback.is_playing, playback.is_waiting)
        if playback.advance(self._now(), lambda index: decoder.frame(index) is not None):
            self._on_playhead_moved()
        elif playback.is_waiting:
            decoder.request(self.playhead + 1)
        if before != (playback.is_playing, playback.is_waiting):
            self.changed.emit()
        return is_changed or playback.is_playing

    def _apply_decoder_state(self, decoder: VideoDecoder) -> bool:
        state = (decoder.info, decoder.error)
        if state == self._decoder_state:
            return False
        self._decoder_state = state
        info, error = state
        if error is not None:
            self.phase, self.problem = "failed", error
            self.playback.pause()
        elif info is not None:
            is_first = self.phase == "loading"
            self.phase = "ready"
            self.playback.last, self.playback.fps = info.frames - 1, info.fps
            if is_first or self.playhead > self.playback.last:
                self.playback.move_to(self.playhead)
                self._on_playhead_moved()
        self.changed.emit()
        return True

    def _on_playhead_moved(self) -> None:
        if self._decoder is not None:
            self._decoder.request(self.playhead)
            frame = self._decoder.frame(self.playhead)
            self.frame, self._is_missing = frame or self.frame, frame is None
        self.playhead_changed.emit()
