"""SideBySideModel: two recorded episodes with a common playhead."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gym_gui.compare.feed.compare_pairs import Origin, origin_of
from gym_gui.compare.feed.divergence import Divergence, RunEpisode, find_divergence
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.playback import PlayheadModel
from gym_gui.runtime.models.services import Services

_CACHE_BYTES = 128 << 20
"""Frame cache of each of the two replays."""


class SideBySideModel(PlayheadModel):
    """Owned by `CompareModel`. The shorter episode stays at its end while the longer one plays."""

    pair_changed = Signal()
    """The episodes changed."""

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
        self.left = ReplayModel(services, self)
        self.right = ReplayModel(services, self)
        self.sides = (self.left, self.right)
        self.divergence: Divergence | None = None
        self.is_searched = False
        """Whether the search for the first difference is finished."""
        self._compared: tuple[RunEpisode, RunEpisode] | None = None
        for side in self.sides:
            side.cache_bytes = _CACHE_BYTES
            side.changed.connect(self._on_side)
            side.episode_changed.connect(self._on_episode)
        services.ticker.subscribe(self, self._on_tick)

    @property
    def can_play(self) -> bool:
        return any(side.steps for side in self.sides)

    @property
    def steps(self) -> int:
        """Steps of the longer episode."""
        return max(side.steps for side in self.sides)

    @property
    def is_ready(self) -> bool:
        return all(side.phase == "ready" for side in self.sides)

    @property
    def origins(self) -> tuple[Origin | None, Origin | None]:
        """The starts of both episodes; None if not recorded."""
        left, right = (
            origin_of(side.opening.details) if side.opening else None for side in self.sides
        )
        return left, right

    @property
    def has_same_start(self) -> bool | None:
        """None if it is not known."""
        left, right = self.origins
        return None if left is None or right is None else left == right

    @property
    def has_divergence(self) -> bool:
        """Whether there is a first difference to go to."""
        return self.divergence is not None and self.divergence.what != "unrecorded"

    def open(self, left: tuple[str, int | None], right: tuple[str, int | None]) -> None:
        """Run ids and episode numbers; without a number, the newest finished episode."""
        self.pause()
        self.playback.move_to(0)
        for side, requested in zip(self.sides, (left, right), strict=True):
            if (side.run_id, side.episode) != requested or side.phase == "failed":
                side.open(*requested)
            else:
                side.seek(0)
        self._clear_divergence()
        self.pair_changed.emit()
        self.playhead_changed.emit()
        self._on_side()

    def clear(self) -> None:
        """Close both episodes; does not block."""
        self.pause()
        for side in self.sides:
            side.close()
        self._clear_divergence()
        self.pair_changed.emit()

    def seek_to_divergence(self) -> None:
        """Go to the first step that differs."""
        if self.divergence is not None and self.has_divergence:
            self.pause()
            self.seek(self.divergence.step + 1 if self.divergence.what != "start" else 0)

    def close(self) -> None:
        self._compared = None
        for side in self.sides:
            side.close()

    def join(self, timeout_s: float) -> bool:
        left, right = (side.join(timeout_s) for side in self.sides)
        return left and right

    # Implementation.

    def _clear_divergence(self) -> None:
        self._compared, self.divergence, self.is_searched = None, None, False

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
        """Search for the first difference when both episodes are open."""
        left, right = ((side.run_id, side.episode) for side in self.sides)
        if left[1] is None or right[1] is None or not self.is_ready:
            return
        requested: tuple[RunEpisode, RunEpisode] = ((left[0], left[1]), (right[0], right[1]))
        if requested == self._compared or not self._services.link.has_client:
            return
        self._clear_divergence()
        self._compared = requested
        environments = {side.opening.run.run.env_id for side in self.sides if side.opening}
        if self.has_same_start is False or len(environments) > 1:
            self.divergence, self.is_searched = Divergence(0, "start"), True
            return

        def apply(divergence: Divergence | None) -> None:
            if self._compared == requested:
                self.divergence, self.is_searched = divergence, True
                self.changed.emit()

        self._services.call(
            self,
            lambda client: find_divergence(client, *requested, lambda: self._compared == requested),
            apply,
        )

    def _on_tick(self) -> bool:
        playback = self.playback
        before = (playback.is_playing, playback.is_waiting)
        if playback.advance(self._now(), self._is_available):
            self._on_playhead_moved()
        if before != (playback.is_playing, playback.is_waiting):
            self.changed.emit()
        return playback.is_playing

    def _is_available(self, index: int) -> bool:
        return all(side.is_available(min(index, side.steps)) for side in self.sides)

    def _on_playhead_moved(self) -> None:
        for side in self.sides:
            side.seek(min(self.playhead, side.steps))
        self.playhead_changed.emit()
