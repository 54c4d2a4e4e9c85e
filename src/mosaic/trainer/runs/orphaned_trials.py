"""Trials whose sweep has finished. The dispatcher stops them."""

from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry

_UNFINISHED = (RunState.QUEUED, RunState.PREPARING, RunState.RUNNING, RunState.PAUSED)
_SUBMIT_DELAY_S = 5.0
"""A trial that a sweep submitted last may arrive this long after the sweep's end."""


def orphaned_trials(registry: RunRegistry) -> list[RunRecord]:
    """Unfinished trials of finished sweeps. Blocking.

    A run that a user starts later with the configuration of a trial does not count.
    """
    ended: dict[str, float | None] = {}
    orphans = []
    for record in registry.in_states(_UNFINISHED):
        sweep = record.parent_run
        if sweep is None:
            continue
        if sweep not in ended:
            ended[sweep] = _end_of_sweep(registry, sweep)
        end = ended[sweep]
        if end is not None and record.created_at < end + _SUBMIT_DELAY_S:
            orphans.append(record)
    return orphans


def _end_of_sweep(registry: RunRegistry, run_id: str) -> float | None:
    """None if it has not finished, or is not a sweep."""
    try:
        record = registry.get(run_id)
    except UnknownRunError:
        return None
    is_finished = record.mode == "sweep" and record.state.is_final
    return record.ended_at if is_finished else None
