"""CompareModel: several runs over each other, and two of them replayed side by side.

Shown by the Compare tab. The curves and scores are a `ChartsModel` that `app` hands in; the
replays are a `SideBySideModel`, which is given episodes that began alike where there are any.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from gym_gui.compare.feed.compare_pairs import EpisodePair, best_episode, find_pairs
from gym_gui.compare.model.compare_choice import CompareChoice
from gym_gui.compare.model.side_by_side_model import SideBySideModel
from gym_gui.runtime.models import run_tabs, run_text
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

Phase = Literal["empty", "one", "many"]
Way = Literal["pair", "best", "last", "chosen"]
"""How the two episodes were found."""
_NO_STEPS = "No step of these runs is recorded. Train with Minimal telemetry to see them again."


class OverlaidCharts(Protocol):
    """Curves and scores of the compared runs; `ChartsModel` is one."""

    @property
    def changed(self) -> SignalInstance: ...
    def show(self, run_ids: Sequence[str]) -> None: ...
    def set_in_sight(self, is_in_sight: bool) -> None: ...


class CompareModel(QObject):
    """Made once, by the wiring. Nothing of the replays is asked for before somebody looks."""

    changed = Signal()
    """Which runs, which two of them, and which episodes there are to choose from."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        runs: RunsModel,
        charts: OverlaidCharts,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self.runs = runs
        self.charts = charts
        self.choice = CompareChoice(runs, self)
        self.replays = SideBySideModel(link, tasks, pulse, notices, self)
        self.run_ids: tuple[str, ...] = ()
        self.left = self.right = ""
        """The two runs that are replayed."""
        self.pairs: tuple[EpisodePair, ...] | None = None
        """Episodes that began alike, the newest first; None while they are being looked for."""
        self.way: Way = "pair"
        self.pair: EpisodePair | None = None
        self._ticket = 0
        self._is_watched = False
        self.charts.changed.connect(self.changed)
        runs.runs_changed.connect(self.changed)
        runs.changed.connect(self._on_runs)
        link.connected.connect(self._begin_replays)

    @property
    def phase(self) -> Phase:
        if not self.run_ids:
            return "empty"
        return "one" if len(self.run_ids) == 1 else "many"

    @property
    def titles(self) -> dict[str, str]:
        """What the runs are called, as far as is known."""
        known = [run for run_id in self.run_ids if (run := self.runs.by_id(run_id)) is not None]
        return dict.fromkeys(self.run_ids, "…") | run_text.unique_titles(known)

    @property
    def no_replays(self) -> str:
        """Why there is nothing to see side by side; empty where there is, or where it may come."""
        known = [run for run_id in self.run_ids if (run := self.runs.by_id(run_id)) is not None]
        is_known = len(known) == len(self.run_ids)
        return _NO_STEPS if is_known and all(run_tabs.no_replay(run) for run in known) else ""

    # What a person does.

    def show(self, run_ids: Sequence[str]) -> None:
        """Compare these from now on."""
        wanted = tuple(dict.fromkeys(run_ids))
        if wanted == self.run_ids:
            return
        self.run_ids = wanted
        self.choice.choose(wanted)
        self.charts.show(wanted)
        if not {self.left, self.right} <= set(wanted) or self.left == self.right:
            # Those of which there is something to see come first.
            seen = sorted(wanted, key=lambda each: bool(run_tabs.no_replay(self.runs.by_id(each))))
            self.left, self.right = (*seen, "", "")[:2]
            self._forget_replays()
            self._begin_replays()
        self.changed.emit()

    def watch(self) -> None:
        """Somebody looks at the replays: from now on there are some."""
        self._is_watched = True
        self._begin_replays()

    def set_left(self, run_id: str) -> None:
        self._set_two(run_id, self.left if run_id == self.right else self.right)

    def set_right(self, run_id: str) -> None:
        self._set_two(self.right if run_id == self.left else self.left, run_id)

    def swap(self) -> None:
        self._set_two(self.right, self.left)

    def choose_pair(self, pair: EpisodePair) -> None:
        """Two episodes that began alike."""
        self.way, self.pair = "pair", pair
        self.replays.open((self.left, pair.left), (self.right, pair.right))
        self.changed.emit()

    def choose_last(self) -> None:
        """The newest finished episode of each."""
        self.way, self.pair = "last", None
        self.replays.open((self.left, None), (self.right, None))
        self.changed.emit()

    def choose_best(self) -> None:
        """The episode with the highest return of each."""
        self.way, self.pair = "best", None
        ticket, left, right = self._ticket, self.left, self.right
        if not self._link.has_client:
            return
        client = self._link.client

        def take(found: tuple[int | None, int | None]) -> None:
            if ticket == self._ticket and self.way == "best":
                self.replays.open((left, found[0]), (right, found[1]))
                self.changed.emit()

        self._tasks.run(
            self,
            lambda: (best_episode(client, left), best_episode(client, right)),
            take,
            self._notices.fail,
        )
        self.changed.emit()

    def choose_episodes(self, left: int, right: int) -> None:
        """By their numbers."""
        self.way, self.pair = "chosen", None
        self.replays.open((self.left, left), (self.right, right))
        self.changed.emit()

    def close(self) -> None:
        """Does not wait."""
        self._ticket += 1
        self._is_watched = False
        self.replays.close()

    def join(self, timeout_s: float) -> bool:
        return self.replays.join(timeout_s)

    # How it comes about.

    def _on_runs(self, run_ids: set[str]) -> None:
        """What was deleted cannot be compared any more."""
        gone = {each for each in self.run_ids if each in run_ids and self.runs.by_id(each) is None}
        if gone:
            self.show([each for each in self.run_ids if each not in gone])

    def _set_two(self, left: str, right: str) -> None:
        if (left, right) == (self.left, self.right):
            return
        self.left, self.right = left, right
        self._forget_replays()
        self._begin_replays()
        self.changed.emit()

    def _forget_replays(self) -> None:
        self._ticket += 1
        self.pairs, self.pair, self.way = None, None, "pair"
        self.replays.clear()

    def _begin_replays(self) -> None:
        if not self._is_watched or not self._link.has_client or self.pairs is not None:
            return
        if not self.left or not self.right:
            return
        self._ticket += 1
        ticket, client, left, right = self._ticket, self._link.client, self.left, self.right

        def take(pairs: list[EpisodePair]) -> None:
            if ticket != self._ticket:
                return
            self.pairs = tuple(pairs)
            if pairs:
                self.choose_pair(pairs[0])
            else:
                self.choose_last()

        def refuse(error: UserError) -> None:
            self._notices.fail(error)
            take([])

        self._tasks.run(self, lambda: find_pairs(client, left, right), take, refuse)
