"""SideBySideModel: two recorded episodes, moved by one playhead, step by step alike."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gym_gui.compare.feed.compare_pairs import Origin, origin_of
from gym_gui.compare.feed.divergence import Divergence, Place, find_divergence
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.playhead_model import PlayheadModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker

_CACHE_BYTES = 128 << 20
"""For the pictures of each of the two."""


class SideBySideModel(PlayheadModel):
    """Owned by `CompareModel`. The shorter episode rests at its end while the longer goes on."""

    pair_changed = Signal()
    """Other episodes, or none."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        parent: QObject | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(pulse, parent)
        self._link = link
        self._tasks = tasks
        self._now = now
        self.left = ReplayModel(link, tasks, pulse, notices, self)
        self.right = ReplayModel(link, tasks, pulse, notices, self)
        self.sides = (self.left, self.right)
        self.parting: Divergence | None = None
        self.is_searched = False
        """Whether it is known where they part."""
        self._compared: tuple[Place, Place] | None = None
        for side in self.sides:
            side.cache_bytes = _CACHE_BYTES
            side.changed.connect(self._on_side)
            side.episode_changed.connect(self._on_episode)
        pulse.subscribe(self, self._on_beat)

    @property
    def can_play(self) -> bool:
        return any(side.steps for side in self.sides)

    @property
    def steps(self) -> int:
        """Of the longer one."""
        return max(side.steps for side in self.sides)

    @property
    def is_ready(self) -> bool:
        return all(side.phase == "ready" for side in self.sides)

    @property
    def origins(self) -> tuple[Origin | None, Origin | None]:
        """How both began, where that was recorded."""
        left, right = (
            origin_of(side.opening.details) if side.opening else None for side in self.sides
        )
        return left, right

    @property
    def began_alike(self) -> bool | None:
        """None where it is not known."""
        left, right = self.origins
        return None if left is None or right is None else left == right

    @property
    def has_parting(self) -> bool:
        """There is a moment that can be jumped to."""
        return self.parting is not None and self.parting.what != "unrecorded"

    def open(self, left: tuple[str, int | None], right: tuple[str, int | None]) -> None:
        """Runs and numbers of episodes; without a number the newest that was over."""
        self.pause()
        self.playback.move_to(0)
        for side, wanted in zip(self.sides, (left, right), strict=True):
            if (side.run_id, side.episode) != wanted or side.phase == "failed":
                side.open(*wanted)
            else:
                side.seek(0)
        self._forget_parting()
        self.pair_changed.emit()
        self.playhead_changed.emit()
        self._on_side()

    def clear(self) -> None:
        """Show nothing; does not wait."""
        self.pause()
        for side in self.sides:
            side.close()
        self._forget_parting()
        self.pair_changed.emit()

    def seek_to_parting(self) -> None:
        """The first moment at which something is different to be seen."""
        if self.parting is not None and self.has_parting:
            self.pause()
            self.seek(self.parting.step + 1 if self.parting.what != "start" else 0)

    def close(self) -> None:
        self._compared = None
        for side in self.sides:
            side.close()

    def join(self, timeout_s: float) -> bool:
        left, right = (side.join(timeout_s) for side in self.sides)
        return left and right

    # How it comes about

    def _forget_parting(self) -> None:
        self._compared, self.parting, self.is_searched = None, None, False

    def _on_episode(self) -> None:
        self._search()
        self.pair_changed.emit()

    def _on_side(self) -> None:
        self.playback.last = self.steps
        self.playback.fps = max(side.playback.fps for side in self.sides)
        if self.playback.index > self.playback.last:
            self.playback.move_to(self.playback.last)
        self._search()
        self.changed.emit()

    def _search(self) -> None:
        """Once both are open: where do they part?"""
        left, right = ((side.run_id, side.episode) for side in self.sides)
        if left[1] is None or right[1] is None or not self.is_ready:
            return
        wanted: tuple[Place, Place] = ((left[0], left[1]), (right[0], right[1]))
        if wanted == self._compared or not self._link.has_client:
            return
        self._forget_parting()
        self._compared = wanted
        environments = {side.opening.run.run.env_id for side in self.sides if side.opening}
        if self.began_alike is False or len(environments) > 1:
            self.parting, self.is_searched = Divergence(0, "start"), True
            return
        client = self._link.client

        def take(found: Divergence | None) -> None:
            if self._compared == wanted:
                self.parting, self.is_searched = found, True
                self.changed.emit()

        self._tasks.run(
            self,
            lambda: find_divergence(client, *wanted, lambda: self._compared == wanted),
            take,
        )

    def _on_beat(self) -> bool:
        playback = self.playback
        before = (playback.is_playing, playback.is_waiting)
        if playback.advance(self._now(), self._is_there):
            self._show_playhead()
        if before != (playback.is_playing, playback.is_waiting):
            self.changed.emit()
        return playback.is_playing

    def _is_there(self, index: int) -> bool:
        return all(side.is_there(min(index, side.steps)) for side in self.sides)

    def _show_playhead(self) -> None:
        for side in self.sides:
            side.seek(min(self.playhead, side.steps))
        self.playhead_changed.emit()
