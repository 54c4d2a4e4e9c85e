"""RunRegistry: all runs with their states and histories, and the log of run events.

The dispatcher changes states; the service lists, watches and annotates. All methods are blocking
(the daemon calls them through `run_in_thread`) and safe from any thread.

States, notes and events are on disk before the method returns, and survive a power failure. Digests
survive a crash of the process only: they are rebuilt from the run's own store, and flushing the
disk every second for them would be the daemon's largest cost.
"""

import builtins
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Self

import msgspec

from mosaic.contract.ids import is_ulid
from mosaic.contract.manifest import ArtifactManifest, encode_manifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_events import ArtifactPruned, RetentionChanged, RunEvent
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import BundleUse, RunDetails, RunPage, RunQuery, RunRecord, RunStats
from mosaic.trainer.registry import artifact_rows, event_log, run_changes, run_rows
from mosaic.trainer.registry.artifact_rows import (
    ArtifactPosition,
    ArtifactQuery,
    ArtifactRecord,
    FinishedRun,
)
from mosaic.trainer.registry.database import RegistryDatabase
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.registry.run_changes import Change, NewState
from mosaic.trainer.registry.run_listing import fetch_page
from mosaic.trainer.registry.run_rows import EarlierRun, fetch_earlier_runs
from mosaic.trainer.registry.text_rules import storable_all


class RunRegistry:
    """The runs of one home. `on_change` is called after each commit that added an event.

    Raises `RegistryUnavailableError`, and `UserError` for the file of a newer version.
    A damaged file is set aside, and the registry starts empty.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        on_change: Callable[[], None] = lambda: None,
        kept_events: int = event_log.KEPT_EVENTS,
    ) -> None:
        self._clock = clock
        self._on_change = on_change
        self._kept_events = kept_events
        self._database = RegistryDatabase(path)
        if self.set_aside is not None:
            with self._transaction() as change:
                # Larger than any number of the lost registry, so that no old cursor is valid.
                change.events.continue_after(int(change.now))

    @property
    def set_aside(self) -> Path | None:
        """Where a damaged file was moved on opening."""
        return self._database.set_aside

    @property
    def set_aside_reason(self) -> str:
        """A message about that for the user; empty when nothing was set aside."""
        return self._database.set_aside_reason

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The registry must not be used afterwards."""
        self._database.close()

    # Changing runs

    def add(
        self,
        run_id: str,
        config: TrainRunConfig,
        *,
        request_id: str = "",
        state: RunState = RunState.QUEUED,
        reason: str = "",
        created_at: float | None = None,
        remedy: str = "",
        exit_code: int | None = None,
        output_tail: Sequence[str] = (),
        started_at: float | None = None,
        ended_at: float | None = None,
        imported: bool = False,
    ) -> RunRecord:
        """Add a run, or return the one that the same `request_id` created before.

        An imported run, or one found on disk, is added with its state and times.
        Raises `RequestIdReusedError`, `RunExistsError`.
        """
        if not is_ulid(run_id):
            raise ValueError(f"not a run id: {run_id!r}")
        with self._transaction() as change:
            earlier = run_changes.earlier_submission(change, request_id, config)
            if earlier is not None:
                return change.existing(earlier)[1]
            run_changes.insert_run(
                change,
                run_id,
                config,
                request_id,
                change.now if created_at is None else created_at,
                NewState(
                    state=state,
                    reason=reason,
                    remedy=remedy,
                    exit_code=exit_code,
                    output_tail=output_tail,
                    started_at=started_at,
                    ended_at=ended_at,
                ),
                imported=imported,
            )
            return change.existing(run_id)[1]

    def transition(
        self,
        run_id: str,
        expected: Collection[RunState],
        to: RunState,
        reason: str,
        *,
        remedy: str = "",
        exit_code: int | None = None,
        output_tail: Sequence[str] = (),
        started_at: float | None = None,
        ended_at: float | None = None,
    ) -> RunRecord:
        """Compare and set: of several concurrent calls, one succeeds.

        `started_at` and `ended_at` default to the current time when the state starts or ends the
        run. Raises `StateConflictError` when the run is in none of the `expected` states, and
        `ValueError` for an invalid transition.
        """
        new = NewState(
            state=to,
            reason=reason,
            remedy=remedy,
            exit_code=exit_code,
            output_tail=output_tail,
            started_at=started_at,
            ended_at=ended_at,
        )
        with self._transaction() as change:
            run_changes.change_state(change, run_id, expected, new)
            return change.existing(run_id)[1]

    def annotate(
        self,
        run_id: str,
        *,
        add_tags: Collection[str] = (),
        remove_tags: Collection[str] = (),
        note: str | None = None,
        name: str | None = None,
        archived: bool | None = None,
    ) -> RunRecord:
        """Change a user's annotations; None leaves a field unchanged, an empty text removes it.

        Raises `InvalidFieldError`.
        """
        with self._transaction() as change:
            run_changes.annotate(change, run_id, add_tags, remove_tags, note, name, archived)
            return change.existing(run_id)[1]

    def set_manifest(self, run_id: str, manifest: ArtifactManifest) -> bool:
        """Store the manifest; returns whether it has changed, which adds an event."""
        encoded = encode_manifest(manifest)
        with self._transaction() as change:
            return run_changes.set_manifest(change, run_id, encoded)

    def record_pruned(self, run_id: str, path: str, freed_bytes: int, reason: str) -> None:
        """Add an event: an artifact was removed."""
        with self._transaction() as change:
            run_changes.record_pruned(
                change, run_id, ArtifactPruned(path=path, freed_bytes=freed_bytes, reason=reason)
            )

    def record_retention(self, freed_bytes: int, removed: int) -> None:
        """Add an event without a run: the total that pruning removed."""
        with self._transaction() as change:
            change.events.append(
                "", change.now, RetentionChanged(freed_bytes=freed_bytes, removed=removed)
            )

    def set_warnings(self, run_id: str, warnings: Sequence[str]) -> None:
        """Store the warnings; adds an event when they have changed."""
        with self._transaction() as change:
            run_changes.set_warnings(change, run_id, warnings)

    def set_digests(self, digests: Mapping[str, RunStats]) -> None:
        """Store the newest digests of many runs at once. Runs that no longer exist are skipped."""
        if digests:
            with self._database.writing(durable=False) as connection:
                run_rows.write_digests(connection, digests)

    def set_disk_bytes(self, sizes: Mapping[str, int]) -> None:
        """Store the sizes of runs, where they are measured separately."""
        with self._database.writing(durable=False) as connection:
            run_rows.write_disk_bytes(connection, sizes)

    def set_resolved_config(self, run_id: str, line: bytes) -> None:
        """Store the line of the worker's `config` event."""
        self._set_document(run_id, "resolved = ?", line)

    def set_launch(self, run_id: str, command: Sequence[str], bundle: BundleUse | None) -> None:
        """Store what the run is started with. Its bundle is in use until the run is deleted."""
        self._set_document(
            run_id,
            "command = ?, bundle = ?, bundle_folder = ?, code_folder = ?",
            run_rows.encode_texts(storable_all(command)),
            None if bundle is None else msgspec.json.encode(bundle).decode(),
            None if bundle is None else f"{bundle.name}-{bundle.hash}",
            PurePosixPath(bundle.code_path).name or None if bundle is not None else None,
        )

    def set_paused_seconds(self, run_id: str, seconds: float) -> None:
        """Store the total time that the run has been paused."""
        with self._transaction() as change:
            key, _ = change.existing(run_id)
            change.connection.execute("UPDATE run SET paused_s = ? WHERE key = ?", (seconds, key))

    def delete(self, run_id: str) -> None:
        """Delete the rows of a run. The caller checks its state and deletes its files."""
        with self._transaction() as change:
            run_changes.delete_run(change, run_id)

    # Reading runs

    def get(self, run_id: str) -> RunRecord:
        with self._database.reading() as connection:
            keyed = run_rows.fetch_record(connection, run_id)
        if keyed is None:
            raise UnknownRunError(run_id)
        return keyed[1]

    def unmeasured_run_ids(self) -> list[str]:
        """Finished runs without a recorded size."""
        with self._database.reading() as connection:
            return run_rows.fetch_unmeasured_ids(connection)

    def details(self, run_id: str) -> RunDetails:
        """A queued run has its `queue_position`: 1 is next."""
        with self._database.reading() as connection:
            details = run_rows.fetch_details(connection, run_id)
        if details is None:
            raise UnknownRunError(run_id)
        return details

    def config(self, run_id: str) -> TrainRunConfig:
        encoded = self._value_of(
            run_id, "SELECT config FROM run JOIN run_document ON run = key WHERE run_id = ?"
        )
        return msgspec.json.decode(encoded, type=TrainRunConfig)

    def paused_seconds(self, run_id: str) -> float:
        return float(self._value_of(run_id, "SELECT paused_s FROM run WHERE run_id = ?"))

    def list(self, query: RunQuery) -> RunPage:
        """A page of runs, last added first. Raises `PageTokenError`."""
        with self._database.reading() as connection:
            return fetch_page(connection, query)

    def in_states(self, states: Collection[RunState]) -> builtins.list[RunRecord]:
        """In queue order: highest priority first, then first added first."""
        with self._database.reading() as connection:
            keyed = run_rows.fetch_records(
                connection,
                "WHERE state IN (SELECT value FROM json_each(?)) ORDER BY priority DESC, key",
                (run_rows.as_json_list([str(state) for state in states]),),
            )
        return [record for _, record in keyed]

    def queued(self) -> builtins.list[str]:
        """The ids of queued runs in queue order. Cheap, also with thousands of them."""
        return [
            run_id
            for (run_id,) in self._rows(
                "SELECT run_id FROM run WHERE state = 'queued' ORDER BY priority DESC, key"
            )
        ]

    def unstored(self) -> builtins.list[str]:
        """Finished runs whose telemetry is not completely stored."""
        final = ", ".join(f"'{state}'" for state in sorted(FINAL_STATES))
        return [
            run_id
            for (run_id,) in self._rows(
                "SELECT run.run_id FROM run JOIN run_digest ON run_digest.run = run.key"  # noqa: S608 - constants only
                f" WHERE state IN ({final}) AND committed_bytes < spool_bytes"
            )
        ]

    def counts_by_state(self) -> dict[str, int]:
        """Number of runs by state; states without runs are omitted."""
        return dict(self._rows("SELECT state, count(*) FROM run GROUP BY state"))

    def run_ids(self) -> set[str]:
        return {run_id for (run_id,) in self._rows("SELECT run_id FROM run")}

    def bundle_uses(self) -> dict[str, int]:
        """Number of runs for each folder `<bundle>-<hash>`."""
        return dict(
            self._rows(
                "SELECT bundle_folder, count(*) FROM run_document"
                " WHERE bundle_folder IS NOT NULL GROUP BY bundle_folder"
            )
        )

    def code_uses(self) -> set[str]:
        """The folders of workers' code that runs were started with."""
        return {
            folder
            for (folder,) in self._rows(
                "SELECT DISTINCT code_folder FROM run_document WHERE code_folder IS NOT NULL"
            )
        }

    def artifacts(
        self, query: ArtifactQuery, before: ArtifactPosition | None, limit: int
    ) -> builtins.list[ArtifactRecord]:
        """Checkpoints or data sets in the manifests of runs, newest first."""
        with self._database.reading() as connection:
            return artifact_rows.fetch_artifacts(connection, query, before, limit)

    def finished_runs(self) -> builtins.list[FinishedRun]:
        """Finished runs with artifacts, in order of their end."""
        with self._database.reading() as connection:
            return artifact_rows.fetch_finished_runs(connection)

    def earlier_runs(
        self, worker: str, algo: str, env_id: str, limit: int = 10
    ) -> builtins.list[EarlierRun]:
        """Durations and resource usage of successful runs of this kind, newest first."""
        with self._database.reading() as connection:
            return fetch_earlier_runs(connection, worker, algo, env_id, limit)

    # Events

    def events_after(
        self, seq: int, limit: int = 500, run_ids: Collection[str] = ()
    ) -> builtins.list[RunEvent]:
        """Events after the number `seq`, in order, of these runs or of all.

        `EventsForgotten` comes first when some of them were deleted; continue from its number.
        """
        with self._database.reading() as connection:
            return event_log.fetch_events(connection, seq, limit, run_ids, self._clock())

    def last_event_seq(self) -> int:
        with self._database.reading() as connection:
            return event_log.last_event_seq(connection)

    @contextmanager
    def _transaction(self) -> Iterator[Change]:
        with self._database.writing() as connection:
            events = event_log.RunEventWriter(connection, self._kept_events)
            yield Change(connection, events, self._clock())
        if events.has_written:
            self._on_change()

    def _set_document(self, run_id: str, assignments: str, *values: object) -> None:
        with self._transaction() as change:
            key, _ = change.existing(run_id)
            change.connection.execute(
                f"UPDATE run_document SET {assignments} WHERE run = ?",  # noqa: S608 - constant column names
                (*values, key),
            )

    def _value_of(self, run_id: str, query: str) -> Any:
        rows = self._rows(query, run_id)
        if not rows:
            raise UnknownRunError(run_id)
        return rows[0][0]

    def _rows(self, query: str, *parameters: str) -> builtins.list[tuple[Any, ...]]:
        with self._database.reading() as connection:
            return connection.execute(query, parameters).fetchall()
