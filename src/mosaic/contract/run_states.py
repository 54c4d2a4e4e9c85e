"""The states of a run, and which may follow which. The registry lets no other change happen."""

from enum import StrEnum


class RunState(StrEnum):
    """Where a run is in its life."""

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

    def may_become(self, following: "RunState") -> bool:
        return following in _FOLLOWING[self]


FINAL_STATES = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.LOST})
LIVE_STATES = frozenset({RunState.PREPARING, RunState.RUNNING, RunState.PAUSED, RunState.STOPPING})
"""A process of the run may exist."""

_FOLLOWING = {
    RunState.QUEUED: {RunState.PREPARING, RunState.CANCELLED, RunState.FAILED},
    # Back to the queue when the daemon went before anything was started.
    RunState.PREPARING: {RunState.QUEUED, RunState.RUNNING, RunState.STOPPING, *FINAL_STATES},
    RunState.RUNNING: {RunState.PAUSED, RunState.STOPPING, *FINAL_STATES},
    RunState.PAUSED: {RunState.RUNNING, RunState.STOPPING, *FINAL_STATES},
    RunState.STOPPING: set(FINAL_STATES),
    **{state: set[RunState]() for state in FINAL_STATES},
}
