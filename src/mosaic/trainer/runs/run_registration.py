"""Adds runs to the registry: submitted ones, and those imported from an archive."""

from contextlib import ExitStack

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.artifacts.run_import import ImportedRun
from mosaic.trainer.artifacts.run_removal import delete_run
from mosaic.trainer.runs.run_annotations import save_annotations
from mosaic.trainer.runs.run_files import last_lines, write_config
from mosaic.trainer.runs.run_monitor import RunMonitor
from mosaic.trainer.runs.run_services import RunServices

_NO_RECORD = "The archive has no record of how it ended."
_INCOMPLETE = (
    "Not all of its telemetry was stored at the import; the rest is stored in the background."
)


def register_submitted(services: RunServices, config: TrainRunConfig, request_id: str) -> RunRecord:
    """Add a queued run and write its configuration. Blocking.

    A repeated `request_id` returns the existing run. A run whose configuration cannot be written
    is recorded as failed.
    """
    record = services.registry.add(new_ulid(), config, request_id=request_id)
    run = services.home.run(record.run_id)
    if record.state is RunState.QUEUED and not run.config.exists():
        try:
            write_config(services.home, run, config)
        except UserError as error:
            services.registry.transition(
                record.run_id,
                {RunState.QUEUED},
                RunState.FAILED,
                error.message,
                remedy=error.remedy,
            )
            raise
    return record


def register_imported(services: RunServices, imported: ImportedRun) -> RunRecord:
    """Add its row, digest and manifest, read from its own files. Blocking.

    When that fails, nothing of the run is left: neither its row nor its files.
    """
    run_id = imported.run_id
    with ExitStack() as rollback:
        rollback.callback(delete_run, services.home, run_id)
        rollback.callback(services.ingest.forget, run_id)
        _add_row(services, imported)
        rollback.callback(services.registry.delete, run_id)
        _annotate(services, imported)
        services.registry.set_digests({run_id: _build_digest(services, imported)})
        rollback.pop_all()
    return services.registry.get(run_id)


def _add_row(services: RunServices, imported: ImportedRun) -> None:
    record = imported.record
    output = last_lines(services.home.run(imported.run_id))
    services.registry.add(
        imported.run_id,
        imported.config,
        state=record.state if record else RunState.LOST,
        reason=record.reason if record else _NO_RECORD,
        remedy=record.remedy if record else "",
        exit_code=record.exit_code if record else None,
        output_tail=[services.secrets.redact(line) for line in output],
        created_at=record.created_at if record else None,
        started_at=record.started_at if record else None,
        ended_at=record.ended_at if record else None,
        imported=True,
    )


def _annotate(services: RunServices, imported: ImportedRun) -> None:
    if (record := imported.record) is not None:
        services.registry.annotate(
            imported.run_id,
            add_tags=record.tags,
            note=record.note or None,
            name=record.name or None,
            archived=record.archived,
        )
        save_annotations(services.home, services.registry, imported.run_id)


def _build_digest(services: RunServices, imported: ImportedRun) -> RunStats:
    monitor = RunMonitor(
        services.home.run(imported.run_id),
        imported.config,
        services.registry,
        services.ingest,
        services.settings.stalled_after_s,
        services.secrets.redact,
    )
    try:
        status = services.ingest.status(imported.run_id)
        # `refresh` below reports an ingest fault itself.
        if status is not None and status.is_behind and status.fault is None:
            monitor.warn("import", _INCOMPLETE)
        return monitor.refresh(may_stall=False, final=True)
    finally:
        monitor.close()
