"""What the Live tab says of a run that shows nothing yet, or nothing at all. Of `LiveModel`."""

from gym_gui.runtime.models import run_text
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunRecord


def waiting(run: RunRecord | None, *, is_silent: bool, can_replay: bool) -> tuple[str, str]:
    """What stands where there is no picture yet, and what comes next."""
    state = run.state if run is not None else None
    if state is RunState.QUEUED:
        return "Waiting for its turn", "It starts as soon as there is room for it."
    if run is not None and state is RunState.PREPARING:
        return "Preparing its packages", run_text.installation_text(run)
    if is_silent:
        return "This worker tells metrics, not steps.", ""
    if state in FINAL_STATES:
        return "This run is over", "Its episodes can be replayed." if can_replay else ""
    return "Waiting for the first step", ""


def silence(label: str) -> str:
    """Why there is nothing to see of a run of this worker."""
    # In a sentence it is a worker, not a name.
    called = label.removesuffix(" Worker") + " worker" if label.endswith(" Worker") else label
    return f"{called} streams metrics via TensorBoard/W&B; live telemetry not available."
