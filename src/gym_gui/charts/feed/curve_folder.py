"""FolderSource: a folder with TensorBoard event files, shown like a run."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from gym_gui.charts.feed.curve_events import EventCurves
from gym_gui.charts.feed.curve_scores import Score, score_of
from gym_gui.charts.feed.curves import (
    ChartRunInfo,
    Curve,
    CurveRequest,
    CurveSnapshot,
    MetricKey,
    XAxis,
    returns_among,
)
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_SCHEME = "folder:"
_MAX_FOLDERS = 40


def is_folder(run_id: str) -> bool:
    """Return whether the id names a folder instead of a run of the daemon."""
    return run_id.startswith(_SCHEME)


def folders_with_events(folder: Path) -> list[str]:
    """Ids of the folder itself, or of its subfolders with event files. Blocks."""
    from mosaic.analytics.event_files import find_event_files  # noqa: PLC0415 - when asked for

    if not folder.is_dir():
        raise UserError(
            f"The folder {folder} does not exist.",
            remedy="Choose a folder with TensorBoard event files.",
            code="C393",
        )
    folders = sorted({path.parent for path in find_event_files(folder)})
    # A nested folder is read with its parent.
    outer = [path for path in folders if not any(other in path.parents for other in folders)]
    if not outer:
        raise UserError(
            f"{folder} has no event files.",
            remedy="Choose a folder with files whose names contain “tfevents”.",
            code="C394",
        )
    return [f"{_SCHEME}{path}" for path in outer[:_MAX_FOLDERS]]


class FolderSource:
    """Read at the first poll; never changes afterwards."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._folder = Path(run_id.removeprefix(_SCHEME))
        self._lock = threading.Lock()
        self._events = EventCurves(self._folder)

    def poll(
        self,
        axis: XAxis,
        requests: Mapping[MetricKey, CurveRequest],
        known: Mapping[MetricKey, int],
        *,
        with_state: bool,  # noqa: ARG002 - a folder has no state
    ) -> CurveSnapshot:
        with self._lock:
            if not self._events.counts:
                self._read()
            counts, origin = self._events.counts, self._events.first_t
            info = ChartRunInfo(
                self._as_run(origin),
                {"folder": str(self._folder)},
                counts,
                returns_among(counts),
                from_events=frozenset(counts),
                folder=str(self._folder),
            )
            curves = {
                key: self._events.curve(key, axis, request, None, origin)
                for key, request in requests.items()
                if key in counts and counts[key] != known.get(key)
            }
            return CurveSnapshot(info, curves)

    def read_events(self) -> bool:
        return False

    def score(self, info: ChartRunInfo) -> Score:
        if info.returns is None:
            return Score(step=self._events.last_step)
        return score_of(self._events.points(info.returns))

    def points(self, key: MetricKey) -> Iterator[Curve]:
        if key in self._events.counts:
            yield self._events.points(key)

    def _read(self) -> None:
        try:
            self._events.refresh()
        except OSError as error:
            raise UserError(
                f"{self._folder} cannot be read: {error.strerror or error}.",
                remedy="Change the permissions of the folder.",
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
