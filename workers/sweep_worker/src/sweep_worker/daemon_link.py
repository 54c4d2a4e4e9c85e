"""DaemonLink: calls to the daemon that runs the trials, and pausing the trials with the sweep.

Every call waits while the daemon does not answer; it raises `DaemonUnreachableError` only if a stop
was requested.
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

DAEMON_UNREACHABLE = "W220"
"""The daemon does not answer; the sweep waits for it."""
DAEMON_REACHABLE = "W221"
"""The daemon answers again."""

RUN_NOT_PAUSED = "W229"
"""The run of a trial cannot be paused, and continues while the sweep is paused."""

_RETRY_S = 1.0
_POLL_S = 0.25
_ACTIVE_STATES = tuple(state for state in RunState if state not in FINAL_STATES)

Answer = TypeVar("Answer")


class DaemonLink:
    """Calls the daemon of the home that contains the sweep's run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.home = find_home(run)
        self._client = self._retry(lambda: TrainerClient.connect(self.home))

    def close(self) -> None:
        self._client.close()

    def submit(self, config: Mapping[str, Any], request_id: str) -> RunRecord:
        """Start a run; repeated calls with the same `request_id` start it once."""
        return self._retry(lambda: self._client.submit(config, request_id=request_id))

    def children(self, sweep_run: str) -> dict[str, RunRecord]:
        """The unfinished runs of a sweep."""
        return self._retry(
            lambda: {
                record.run_id: record
                for record in self._client.runs(
                    parent_run=sweep_run, states=_ACTIVE_STATES, include_archived=True
                )
            }
        )

    def record(self, run_id: str) -> RunRecord:
        return self._retry(lambda: self._client.run(run_id).run)

    def metrics(self, run_id: str, after: int) -> list[tuple[int, Metric]]:
        """The metrics of the run after line `after`, each with its line number."""
        return self._retry(lambda: list(self._client.metrics(run_id, after=after)))

    def metric_names(self, run_id: str) -> list[str]:
        return self._retry(lambda: sorted({series.name for series in self._client.series(run_id)}))

    def cancel(self, run_id: str, reason: str) -> None:
        """Cancel a run, unless it has finished."""
        try:
            self._retry(lambda: self._client.cancel(run_id, reason=reason))
        except DaemonUnreachableError:
            raise
        except TrainerError:
            if not self.record(run_id).state.is_final:
                raise

    def pause(self, run_id: str) -> None:
        self._retry(lambda: self._client.pause(run_id))

    def resume(self, run_id: str) -> None:
        self._retry(lambda: self._client.resume(run_id))

    def _retry(self, call: Callable[[], Answer]) -> Answer:
        is_unreachable = False
        while True:
            try:
                answer = call()
            except (DaemonUnreachableError, CallTimeoutError) as error:
                if self._run.should_stop:
                    raise DaemonUnreachableError(error.message, remedy=error.remedy) from error
                if not is_unreachable:
                    self._run.emitter.log(
                        "warning",
                        DAEMON_UNREACHABLE,
                        f"{error.message} The sweep waits for the daemon.",
                    )
                is_unreachable = True
                self._run.wait(_RETRY_S)
            else:
                if is_unreachable:
                    self._run.emitter.log("info", DAEMON_REACHABLE, "The daemon answers again.")
                return answer


def find_home(run: Run) -> Home:
    """The home whose daemon started the run."""
    home = Home(run.directory.absolute().parents[2])
    if home.runs != run.directory.absolute().parent or not home.token.is_file():
        raise WorkerError(
            f"{run.directory} is not a run of a trainer daemon, which a sweep needs.",
            remedy="Start it with `mosaic sweep`.",
        )
    return home


def pause_with_children(run: Run, link: DaemonLink) -> None:
    """If a pause is requested, pause the trials and wait for a resume or stop."""
    paused: set[str] = set()
    rejected: set[str] = set()
    has_status = False
    while run.is_pause_requested:
        # Repeatedly, because a queued run may start during the pause.
        _pause_running(run, link, paused, rejected)
        if not has_status:
            run.emitter.status("paused")
            has_status = True
        if run.wait(_POLL_S):
            return
    for run_id in paused:
        _resume(link, run_id)
    if has_status:
        run.emitter.status("running")


def _pause_running(run: Run, link: DaemonLink, paused: set[str], rejected: set[str]) -> None:
    for run_id, record in link.children(run.id).items():
        if record.state is RunState.RUNNING and run_id not in paused | rejected:
            (paused if _pause(run, link, run_id) else rejected).add(run_id)


def _pause(run: Run, link: DaemonLink, run_id: str) -> bool:
    try:
        link.pause(run_id)
    except DaemonUnreachableError:
        raise
    except TrainerError as error:
        if not link.record(run_id).state.is_final:
            run.emitter.log(
                "warning",
                RUN_NOT_PAUSED,
                f"The run of a trial cannot be paused: {error.message}",
            )
        return False
    return True


def _resume(link: DaemonLink, run_id: str) -> None:
    try:
        link.resume(run_id)
    except DaemonUnreachableError:
        raise
    except TrainerError:
        if link.record(run_id).state is RunState.PAUSED:
            raise
