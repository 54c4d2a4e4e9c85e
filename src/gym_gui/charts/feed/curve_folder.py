"""FolderSource: any folder with TensorBoard's event files, drawn as if it were a run."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from gym_gui.charts.feed.curve_events import EventCurves
from gym_gui.charts.feed.curve_scores import Score, score_of
from gym_gui.charts.feed.curves import Curve, Look, MetricKey, RunFacts, Wish, XAxis, returns_among
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_SCHEME = "folder:"
_MOST_FOLDERS = 40


def is_folder(run_id: str) -> bool:
    """Whether it is no run of the daemon."""
    return run_id.startswith(_SCHEME)


def folders_with_events(folder: Path) -> list[str]:
    """The ids of what is drawn of it: itself, or those below it that have event files. Waits."""
    from mosaic.analytics.event_files import find_event_files  # noqa: PLC0415 - when asked for

    if not folder.is_dir():
        raise UserError(
            f"There is no folder {folder}.",
            remedy="Choose a folder that has TensorBoard's event files in it.",
            code="C393",
        )
    holding = sorted({path.parent for path in find_event_files(folder)})
    # One that lies in another is read with it.
    outer = [each for each in holding if not any(one in each.parents for one in holding)]
    if not outer:
        raise UserError(
            f"{folder} has no event files in it.",
            remedy="Choose a folder with files whose names have “tfevents” in them.",
            code="C394",
        )
    return [f"{_SCHEME}{each}" for each in outer[:_MOST_FOLDERS]]


class FolderSource:
    """It is read once it is looked at for the first time, and never changes after that."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._folder = Path(run_id.removeprefix(_SCHEME))
        self._lock = threading.Lock()
        self._events = EventCurves(self._folder)

    def look(
        self,
        axis: XAxis,
        wishes: Mapping[MetricKey, Wish],
        known: Mapping[MetricKey, int],
        *,
        asks_state: bool,  # noqa: ARG002 - it has none
    ) -> Look:
        with self._lock:
            if not self._events.counts:
                self._read()
            told, origin = self._events.counts, self._events.first_t
            facts = RunFacts(
                self._as_run(origin),
                {"folder": str(self._folder)},
                told,
                returns_among(told),
                from_events=frozenset(told),
                folder=str(self._folder),
            )
            curves = {
                key: self._events.curve(key, axis, wish, None, origin)
                for key, wish in wishes.items()
                if key in told and told[key] != known.get(key)
            }
            return Look(facts, curves)

    def read_events(self) -> bool:
        return False

    def score(self, facts: RunFacts) -> Score:
        if facts.returns is None:
            return Score(step=self._events.last_step)
        return score_of(self._events.points(facts.returns))

    def points(self, key: MetricKey) -> Iterator[Curve]:
        if key in self._events.counts:
            yield self._events.points(key)

    def _read(self) -> None:
        try:
            self._events.refresh()
        except OSError as error:
            raise UserError(
                f"{self._folder} cannot be read: {error.strerror or error}.",
                remedy="Change the rights of the folder.",
                code="C397",
            ) from error

    def _as_run(self, origin: float) -> RunRecord:
        name = self._folder.name or str(self._folder)
        return RunRecord(
            run_id=self._run_id,
            name=name,
            worker="",
            mode="",
            env_id="",
            seed=0,
            state=RunState.SUCCEEDED,
            created_at=origin,
        )
