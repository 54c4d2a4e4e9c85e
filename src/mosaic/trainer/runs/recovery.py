"""Recovery after a restart: determines the state of all runs from directories and registry.

Covers every unfinished run of the registry, and every directory that the registry does not know, as
after the loss of `trainer.db`. Called once, before anything is served.
"""

import logging
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid, ulid_time_ms
from mosaic.contract.json_value import MAX_DOCUMENT_BYTES
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.regular_files import read_regular
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.artifacts.run_removal import clean_leftovers
from mosaic.trainer.processes.launcher import RunLauncher
from mosaic.trainer.processes.run_process import NotStarted
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.run_annotations import restore_annotations
from mosaic.trainer.runs.run_files import LaunchRecord, last_lines, remove_frames, write_config

_log = logging.getLogger(__name__)

_STARTING_TIMEOUT_S = 10.0
_POLL_S = 0.05


@dataclass(slots=True)
class Recovered:
    """The result: runs to reattach to, and problems to show to the user."""

    to_reattach: list[RunRecord] = field(default_factory=list)
    """Runs with a process, or with an end that is not recorded yet."""
    not_stored: list[str] = field(default_factory=list)
    """Finished runs whose telemetry is not completely stored yet."""
    problems: list[str] = field(default_factory=list)


class Recovery:
    """Recovers one home, once."""

    def __init__(
        self,
        home: Home,
        registry: RunRegistry,
        launcher: RunLauncher,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._home = home
        self._registry = registry
        self._launcher = launcher
        self._wait = wait
        self._result = Recovered()

    def recover(self) -> Recovered:
        """Blocking."""
        clean_leftovers(self._home)
        known = self._registry.run_ids()
        for path in sorted(self._home.runs.iterdir()):
            if is_ulid(path.name) and path.name not in known:
                self._try(path.name, partial(self._recover_unknown, RunDirectory(path)))
        unfinished = set(RunState) - FINAL_STATES
        for record in self._registry.in_states(unfinished):
            self._try(record.run_id, partial(self._recover_unfinished, record))
        # Without its spool nothing more can be stored.
        self._result.not_stored = [
            run_id for run_id in self._registry.unstored() if self._home.run(run_id).spool.is_file()
        ]
        return self._result

    def _try(self, run_id: str, recover_run: Callable[[], None]) -> None:
        """A run that cannot be inspected does not prevent the recovery of the others."""
        try:
            recover_run()
        except OSError as error:
            problem = f"Run {run_id} could not be inspected: {error}."
            self._result.problems.append(problem)
            _log.warning("T157 %s", problem)

    def _recover_unfinished(self, record: RunRecord) -> None:
        run = self._home.run(record.run_id)
        if record.state is RunState.QUEUED:
            self._restore_config(run)
            return
        try:
            process = self._launcher.status(run)
            if isinstance(process, NotStarted) and record.state is RunState.PREPARING:
                self._wait_for_start(run)
                process = self._launcher.status(run)
        except UserError as error:
            self._launcher.terminate_unrecorded(run)
            self._mark_lost(record, str(error))
            return
        if isinstance(process, NotStarted):
            self._recover_not_started(record, run)
        else:
            self._result.to_reattach.append(self._registry.get(record.run_id))

    def _recover_not_started(self, record: RunRecord, run: RunDirectory) -> None:
        if record.state is RunState.PREPARING:
            self._restore_config(run)
            self._registry.transition(
                record.run_id,
                {RunState.PREPARING},
                RunState.QUEUED,
                "The daemon stopped before the run was started.",
            )
        elif record.state is RunState.STOPPING and not run.started.exists():
            self._registry.transition(
                record.run_id, {RunState.STOPPING}, RunState.CANCELLED, record.reason
            )
        else:
            self._launcher.terminate_unrecorded(run)
            self._mark_lost(record, "Its directory has no record of what happened to it.")

    def _mark_lost(self, record: RunRecord, reason: str) -> None:
        _log.warning("T140 run %s is lost: %s", record.run_id, reason)
        remove_frames(self._home.run(record.run_id))
        self._registry.transition(
            record.run_id,
            {record.state},
            RunState.LOST,
            reason,
            remedy="Start it again, from its last checkpoint if it has one.",
            output_tail=last_lines(self._home.run(record.run_id)),
        )

    def _wait_for_start(self, run: RunDirectory) -> None:
        """A supervisor that the last daemon started may be about to record its worker."""
        deadline = time.monotonic() + _STARTING_TIMEOUT_S
        while self._launcher.is_starting(run) and not run.started.exists():
            if time.monotonic() > deadline:
                return
            self._wait(_POLL_S)

    def _restore_config(self, run: RunDirectory) -> None:
        """The registry has it first; the daemon may have stopped before the file was written."""
        if not run.config.is_file():
            write_config(self._home, run, self._registry.config(run.run_id))

    def _recover_unknown(self, run: RunDirectory) -> None:
        if not run.path.is_dir() or run.path.is_symlink():
            self._set_aside(run, "it is not a directory")
            return
        if not any(run.path.iterdir()):
            with suppress(OSError):
                run.path.rmdir()
            return
        try:
            process = self._launcher.status(run)
            config = load_run_config(read_regular(run.config, MAX_DOCUMENT_BYTES))
        except (UserError, OSError) as error:
            self._quarantine(run, f"config.json or a record of its process is invalid: {error}")
            return
        imported = os.path.lexists(run.imported)
        created_at = ulid_time_ms(run.run_id) / 1000
        reason = "Found in the runs folder; it was not in the registry."
        if isinstance(process, NotStarted):
            remove_frames(run)
            self._registry.add(
                run.run_id,
                config,
                state=RunState.LOST,
                reason=reason,
                created_at=created_at,
                imported=imported,
            )
            restore_annotations(run, self._registry)
            return
        started = StartedRecord.read(run.started)
        record = self._registry.add(
            run.run_id,
            config,
            state=RunState.RUNNING,
            reason=reason,
            created_at=created_at,
            started_at=started.t if started else created_at,
            imported=imported,
        )
        restore_annotations(run, self._registry)
        # The launch record of an imported run was written by the author of the archive.
        launch = None if imported else LaunchRecord.read(run.launch)
        if launch is not None:
            self._registry.set_launch(run.run_id, launch.command, launch.bundle)
        self._result.to_reattach.append(record)
        _log.info("T141 run %s: %s", run.run_id, reason)

    def _quarantine(self, run: RunDirectory, reason: str) -> None:
        if self._launcher.is_starting(run):
            self._result.problems.append(f"Run {run.run_id} has a process, but {reason}.")
            return
        self._set_aside(run, reason)

    def _set_aside(self, run: RunDirectory, reason: str) -> None:
        target = _free_name(self._home.quarantine / run.run_id)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        run.path.rename(target)
        with suppress(OSError):  # it was not started, or the target is not a folder
            run.supervisor_folder.rename(target / run.supervisor_folder.parent.name)
        write_atomically(target.with_name(f"{target.name}.reason.txt"), f"{reason}\n".encode())
        self._result.problems.append(f"{target} was set aside: {reason}.")
        _log.warning("T142 %s was set aside: %s", target, reason)


def _free_name(path: Path) -> Path:
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{path.name.partition('~')[0]}~{number}")
    return path
