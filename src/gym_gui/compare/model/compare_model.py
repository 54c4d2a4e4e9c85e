"""CompareModel: curves and scores of several runs, and two of them replayed side by side.

Shown by the Compare tab. `app` passes a `ChartsModel` for curves and scores. The replays are a
`SideBySideModel`, with episodes of the same start if there are any.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from gym_gui.compare.feed.compare_pairs import EpisodePair, best_episode, find_pairs
from gym_gui.compare.model.compare_choice import CompareChoice
from gym_gui.compare.model.side_by_side_model import SideBySideModel
from gym_gui.runtime.models import run_tabs, run_text
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError

Phase = Literal["empty", "one", "many"]
EpisodeSelection = Literal["pair", "best", "last", "chosen"]
"""How the two episodes were selected."""
_NO_STEPS = "These runs have no recorded steps. Train with Minimal telemetry to replay them."


class OverlaidCharts(Protocol):
    """Curves and scores of the compared runs; `ChartsModel` is one."""

    @property
    def changed(self) -> SignalInstance: ...
    def show(self, run_ids: Sequence[str]) -> None: ...
    def set_visible(self, is_visible: bool) -> None: ...


class CompareModel(QObject):
    """Created once, by `AnalysisModels`. Replays are fetched after `watch`."""

    changed = Signal()
    """The runs, the two replayed runs or the choice of episodes changed."""

    def __init__(
        self,
        services: Services,
        runs: RunsModel,
        charts: OverlaidCharts,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self.runs = runs
        self.charts = charts
        self.choice = CompareChoice(runs, self)
        self.replays = SideBySideModel(services, self)
        self.run_ids: tuple[str, ...] = ()
        self.left = self.right = ""
        """The two replayed runs."""
        self.pairs: tuple[EpisodePair, ...] | None = None
        """Episodes with the same start, newest first; None while they are searched."""
        self.selection: EpisodeSelection = "pair"
        self.pair: EpisodePair | None = None
        self._ticket = 0
        self._is_watched = False
        self.charts.changed.connect(self.changed)
        runs.runs_changed.connect(self.changed)
        runs.changed.connect(self._on_runs_changed)
        services.link.connected.connect(self._start_replays)

    @property
    def phase(self) -> Phase:
        if not self.run_ids:
            return "empty"
        return "one" if len(self.run_ids) == 1 else "many"

    @property
    def titles(self) -> dict[str, str]:
        """Titles by run id; unknown runs have a placeholder."""
        known = [run for run_id in self.run_ids if (run := self.runs.by_id(run_id)) is not None]
        return dict.fromkeys(self.run_ids, "…") | run_text.unique_titles(known)

    @property
    def no_replays(self) -> str:
        """Why no run can be replayed; empty if one can, or if that is not known yet."""
        known = [run for run_id in self.run_ids if (run := self.runs.by_id(run_id)) is not None]
        is_known = len(known) == len(self.run_ids)
        return (
            _NO_STEPS if is_known and all(run_tabs.no_replay_reason(run) for run in known) else ""
        )

    # Commands.

    def show(self, run_ids: Sequence[str]) -> None:
        """Compare these runs."""
        requested = tuple(dict.fromkeys(run_ids))
        if requested == self.run_ids:
            return
        self.run_ids = requested
        self.choice.choose(requested)
        self.charts.show(requested)
        if not {self.left, self.right} <= set(requested) or self.left == self.right:
            # Runs that can be replayed come first.
            ordered = sorted(
                requested,
                key=lambda run_id: bool(run_tabs.no_replay_reason(self.runs.by_id(run_id))),
            )
            self.left, self.right = (*ordered, "", "")[:2]
            self._clear_replays()
            self._start_replays()
        self.changed.emit()

    def watch(self) -> None:
        """The replays are visible: start to fetch them."""
        self._is_watched = True
        self._start_replays()

    def set_left(self, run_id: str) -> None:
        self._set_sides(run_id, self.left if run_id == self.right else self.right)

    def set_right(self, run_id: str) -> None:
        self._set_sides(self.right if run_id == self.left else self.left, run_id)

    def swap(self) -> None:
        self._set_sides(self.right, self.left)

    def choose_pair(self, pair: EpisodePair) -> None:
        """Open two episodes with the same start."""
        self.selection, self.pair = "pair", pair
        self.replays.open((self.left, pair.left), (self.right, pair.right))
        self.changed.emit()

    def choose_last(self) -> None:
        """Open the newest finished episode of each run."""
        self.selection, self.pair = "last", None
        self.replays.open((self.left, None), (self.right, None))
        self.changed.emit()

    def choose_best(self) -> None:
        """Open the episode with the highest return of each run."""
        self.selection, self.pair = "best", None
        ticket, left, right = self._ticket, self.left, self.right
        if not self._services.link.has_client:
            return

        def apply(episodes: tuple[int | None, int | None]) -> None:
            if ticket == self._ticket and self.selection == "best":
                self.replays.open((left, episodes[0]), (right, episodes[1]))
                self.changed.emit()

        self._services.call(
            self,
            lambda client: (best_episode(client, left), best_episode(client, right)),
            apply,
            self._services.notices.post_error,
        )
        self.changed.emit()

    def choose_episodes(self, left: int, right: int) -> None:
        """Open episodes by number."""
        self.selection, self.pair = "chosen", None
        self.replays.open((self.left, left), (self.right, right))
        self.changed.emit()

    def close(self) -> None:
        """Does not block."""
        self._ticket += 1
        self._is_watched = False
        self.replays.close()

    def join(self, timeout_s: float) -> bool:
        return self.replays.join(timeout_s)

    # Implementation.

    def _on_runs_changed(self, run_ids: set[str]) -> None:
        """Remove deleted runs from the comparison."""
        deleted = {run_id for run_id in run_ids if self.runs.by_id(run_id) is None}
        if deleted & set(self.run_ids):
            self.show([run_id for run_id in self.run_ids if run_id not in deleted])

    def _set_sides(self, left: str, right: str) -> None:
        if (left, right) == (self.left, self.right):
            return
        self.left, self.right = left, right
        self._clear_replays()
        self._start_replays()
        self.changed.emit()

    def _clear_replays(self) -> None:
        self._ticket += 1
        self.pairs, self.pair, self.selection = None, None, "pair"
        self.replays.clear()

    def _start_replays(self) -> None:
        if not self._is_watched or not self._services.link.has_client or self.pairs is not None:
            return
        if not self.left or not self.right:
            return
        self._ticket += 1
        ticket, left, right = self._ticket, self.left, self.right

        def apply(pairs: list[EpisodePair]) -> None:
            if ticket != self._ticket:
                return
            self.pairs = tuple(pairs)
            if pairs:
                self.choose_pair(pairs[0])
            else:
                self.choose_last()

        def reject(error: UserError) -> None:
            self._services.notices.post_error(error)
            apply([])

        self._services.call(self, lambda client: find_pairs(client, left, right), apply, reject)
