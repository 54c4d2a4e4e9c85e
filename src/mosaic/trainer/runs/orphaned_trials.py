"""Runs of trials whose sweep is over: nobody waits for them any more. The dispatcher ends them."""

from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry

_GOING_ON = (RunState.QUEUED, RunState.PREPARING, RunState.RUNNING, RunState.PAUSED)
_ON_ITS_WAY_S = 5.0
"""So long after the end of a sweep, what it submitted last may still arrive."""


def orphaned_trials(registry: RunRegistry) -> list[RunRecord]:
    """Those that go on. Blocking.

    A run that somebody begins later with the configuration of a trial is no trial of that sweep.
    """
    ended: dict[str, float | None] = {}
    orphans = []
    for record in registry.in_states(_GOING_ON):
        sweep = record.parent_run
        if sweep is None:
            continue
        if sweep not in ended:
            ended[sweep] = _end_of_sweep(registry, sweep)
        end = ended[sweep]
        if end is not None and record.created_at < end + _ON_ITS_WAY_S:
            orphans.append(record)
    return orphans


def _end_of_sweep(registry: RunRegistry, run_id: str) -> float | None:
    """None: it goes on, or is no sweep."""
    try:
        record = registry.get(run_id)
    except UnknownRunError:
        return None
    is_over = record.mode == "sweep" and record.state.is_final
    return record.ended_at if is_over else None
