"""Putting a run that came in an archive among the others."""

from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.artifacts.run_archive import ImportedRun
from mosaic.trainer.runs.run_parts import RunParts
from mosaic.trainer.runs.run_watch import RunWatch

_NO_RECORD = "It came without a record of how it ended."


def register_imported(parts: RunParts, imported: ImportedRun) -> RunRecord:
    """Its row, its numbers and its manifest, read from its own files. Blocking."""
    told, registry = imported.record, parts.registry
    registry.add(
        imported.run_id,
        imported.config,
        state=told.state if told else RunState.LOST,
        reason=told.reason if told else _NO_RECORD,
        remedy=told.remedy if told else "",
        exit_code=told.exit_code if told else None,
        created_at=told.created_at if told else None,
        started_at=told.started_at if told else None,
        ended_at=told.ended_at if told else None,
    )
    if told is not None:
        registry.annotate(
            imported.run_id,
            add_tags=told.tags,
            note=told.note or None,
            name=told.name or None,
            archived=told.archived,
        )
    run = parts.home.run(imported.run_id)
    watch = RunWatch(run, imported.config, registry, parts.ingest, parts.settings.stalled_after_s)
    try:
        digest = watch.look(may_stall=False, final=True)
    finally:
        watch.close()
    registry.set_digests({imported.run_id: digest})
    return registry.get(imported.run_id)
