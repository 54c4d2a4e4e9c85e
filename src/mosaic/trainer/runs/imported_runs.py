"""Putting a run that came in an archive among the others."""

from contextlib import ExitStack

from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.artifacts.output_tail import last_lines
from mosaic.trainer.artifacts.run_archive import ImportedRun, delete_run
from mosaic.trainer.runs.run_parts import RunParts
from mosaic.trainer.runs.run_watch import RunWatch

_NO_RECORD = "It came without a record of how it ended."
_NOT_WHOLE = "Not all that it wrote was stored when it was imported; the rest follows by itself."


def register_imported(parts: RunParts, imported: ImportedRun) -> RunRecord:
    """Its row, its numbers and its manifest, read from its own files. Blocking.

    When that fails, nothing of the run is left: neither its row nor its files.
    """
    run_id = imported.run_id
    with ExitStack() as undoing:
        undoing.callback(delete_run, parts.home, run_id)
        undoing.callback(parts.ingest.forget, run_id)
        _add_row(parts, imported)
        undoing.callback(parts.registry.delete, run_id)
        _annotate(parts, imported)
        parts.registry.set_digests({run_id: _look(parts, imported)})
        undoing.pop_all()
    return parts.registry.get(run_id)


def _add_row(parts: RunParts, imported: ImportedRun) -> None:
    told = imported.record
    output = last_lines(parts.home.run(imported.run_id))
    parts.registry.add(
        imported.run_id,
        imported.config,
        state=told.state if told else RunState.LOST,
        reason=told.reason if told else _NO_RECORD,
        remedy=told.remedy if told else "",
        exit_code=told.exit_code if told else None,
        output_tail=[parts.secrets.redact(line) for line in output],
        created_at=told.created_at if told else None,
        started_at=told.started_at if told else None,
        ended_at=told.ended_at if told else None,
    )


def _annotate(parts: RunParts, imported: ImportedRun) -> None:
    if (told := imported.record) is not None:
        parts.registry.annotate(
            imported.run_id,
            add_tags=told.tags,
            note=told.note or None,
            name=told.name or None,
            archived=told.archived,
        )


def _look(parts: RunParts, imported: ImportedRun) -> RunStats:
    watch = RunWatch(
        parts.home.run(imported.run_id),
        imported.config,
        parts.registry,
        parts.ingest,
        parts.settings.stalled_after_s,
        parts.secrets.redact,
    )
    try:
        status = parts.ingest.status(imported.run_id)
        # What is in the way of storing, the look below says by itself.
        if status is not None and status.is_behind and status.fault is None:
            watch.warn("import", _NOT_WHOLE)
        return watch.look(may_stall=False, final=True)
    finally:
        watch.close()
