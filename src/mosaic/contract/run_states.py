"""States of a run and their valid transitions, which the registry enforces."""

from enum import StrEnum


class RunState(StrEnum):
    """State of a run."""

    QUEUED = "queued"
    PREPARING = "preparing"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def is_final(self) -> bool:
        return self in FINAL_STATES

    def may_become(self, state: "RunState") -> bool:
        """Return whether the transition to `state` is valid."""
        return state in _TRANSITIONS[self]


FINAL_STATES = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.LOST})
LIVE_STATES = frozenset({RunState.PREPARING, RunState.RUNNING, RunState.PAUSED, RunState.STOPPING})
"""States in which a process of the run may exist."""

_TRANSITIONS = {
    RunState.QUEUED: {RunState.PREPARING, RunState.CANCELLED, RunState.FAILED},
    # Back to the queue when the daemon stopped before it started a process.
    RunState.PREPARING: {RunState.QUEUED, RunState.RUNNING, RunState.STOPPING, *FINAL_STATES},
    RunState.RUNNING: {RunState.PAUSED, RunState.STOPPING, *FINAL_STATES},
    RunState.PAUSED: {RunState.RUNNING, RunState.STOPPING, *FINAL_STATES},
    RunState.STOPPING: set(FINAL_STATES),
    **{state: set[RunState]() for state in FINAL_STATES},
}
