"""The way to the daemon that runs the trials, which may go and come back meanwhile.

Every call waits for a daemon that does not answer; only when the sweep is to stop, it ends with
`DaemonUnreachableError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from mosaic.client import TrainerClient
from mosaic.client.errors import CallTimeoutError, DaemonUnreachableError, TrainerError
from mosaic.contract.layout import Home
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from mosaic.contract.events import Metric
    from mosaic.contract.runs import RunRecord
    from mosaic_worker import Run

DAEMON_AWAY = "W220"
"""The daemon does not answer; the sweep waits until it is back."""
DAEMON_BACK = "W221"
"""The daemon answers again."""

_PAUSE_S = 1.0
_ALIVE = tuple(state for state in RunState if state not in FINAL_STATES)

Answer = TypeVar("Answer")


class DaemonLink:
    """Asks the daemon of the home that the sweep's run is in."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.home = home_of(run)
        self._client = self._patiently(lambda: TrainerClient.connect(self.home))

    def close(self) -> None:
        self._client.close()

    def submit(self, config: Mapping[str, Any], request_id: str) -> RunRecord:
        """Starts the run, once for each `request_id` however often it is asked."""
        return self._patiently(lambda: self._client.submit(config, request_id=request_id))

    def children(self, sweep_run: str) -> dict[str, RunRecord]:
        """The runs of a sweep that are not over."""
        return self._patiently(
            lambda: {
                record.run_id: record
                for record in self._client.runs(
                    parent_run=sweep_run, states=_ALIVE, include_archived=True
                )
            }
        )

    def record(self, run_id: str) -> RunRecord:
        return self._patiently(lambda: self._client.run(run_id).run)

    def metrics(self, run_id: str, after: int) -> list[tuple[int, Metric]]:
        """What the run has told beyond line `after`, each with the number of its line."""
        return self._patiently(lambda: list(self._client.metrics(run_id, after=after)))

    def metric_names(self, run_id: str) -> list[str]:
        return self._patiently(
            lambda: sorted({series.name for series in self._client.series(run_id)})
        )

    def cancel(self, run_id: str, reason: str) -> None:
        """Ends a run; one that is over already is left alone."""
        try:
            self._patiently(lambda: self._client.cancel(run_id, reason=reason))
        except DaemonUnreachableError:
            raise
        except TrainerError:
            if not self.record(run_id).state.is_final:
                raise

    def pause(self, run_id: str) -> None:
        self._patiently(lambda: self._client.pause(run_id))

    def resume(self, run_id: str) -> None:
        self._patiently(lambda: self._client.resume(run_id))

    def _patiently(self, ask: Callable[[], Answer]) -> Answer:
        is_away = False
        while True:
            try:
                answer = ask()
            except (DaemonUnreachableError, CallTimeoutError) as error:
                if self._run.should_stop:
                    raise DaemonUnreachableError(error.message, remedy=error.remedy) from error
                if not is_away:
                    self._run.emitter.log(
                        "warning", DAEMON_AWAY, f"{error.message} The sweep waits for it."
                    )
                is_away = True
                self._run.wait(_PAUSE_S)
            else:
                if is_away:
                    self._run.emitter.log("info", DAEMON_BACK, "The daemon is back.")
                return answer


def home_of(run: Run) -> Home:
    """The home whose daemon started the run."""
    home = Home(run.directory.absolute().parents[2])
    if home.runs != run.directory.absolute().parent or not home.token.is_file():
        raise WorkerError(
            f"{run.directory} is no run of a trainer daemon, and a sweep needs one for its trials.",
            remedy="Start it with `mosaic sweep`.",
        )
    return home
