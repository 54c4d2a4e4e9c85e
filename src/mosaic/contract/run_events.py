"""Events of `WatchRuns`: changes of runs.

Every event but `DigestChanged` has a sequence number and is stored, so that a client can resume
after a disconnect. The messages of the same names in `proto/trainer.proto` have the same fields.
"""

import msgspec

from mosaic.contract.runs import RunRecord, StateChange


class StateChanged(msgspec.Struct, kw_only=True, frozen=True, tag="state"):
    """The run changed its state."""

    change: StateChange
    exit_code: int | None = None
    output_tail: tuple[str, ...] = ()
    """In a final state: the last 50 lines of the run's output."""


class DigestChanged(msgspec.Struct, frozen=True, tag="digest"):
    """The statistics in `RunRecord.digest` changed. Not stored."""


class ArtifactsAvailable(msgspec.Struct, kw_only=True, frozen=True, tag="artifacts"):
    """The artifacts in the run's directory changed."""

    manifest_json: bytes


class ArtifactPruned(msgspec.Struct, kw_only=True, frozen=True, tag="pruned"):
    """An artifact was removed to free disk space."""

    path: str
    freed_bytes: int
    reason: str


class RunAnnotated(msgspec.Struct, frozen=True, tag="annotated"):
    """A user changed the name, tags, note or archive flag."""


class RunDeleted(msgspec.Struct, frozen=True, tag="deleted"):
    """The run and all its files were deleted."""


class WarningsChanged(msgspec.Struct, frozen=True, tag="warnings"):
    """`RunRecord.warnings` changed."""


class RetentionChanged(msgspec.Struct, kw_only=True, frozen=True, tag="retention"):
    """Artifacts were removed to free disk space. `RunEvent.run_id` is empty."""

    freed_bytes: int
    removed: int
    """Number of removed artifacts; each has its own `ArtifactPruned`."""


class EventsForgotten(msgspec.Struct, frozen=True, tag="forgotten"):
    """Earlier events are no longer stored: list the runs again and resume from this `seq`."""


RunEventBody = (
    StateChanged
    | DigestChanged
    | ArtifactsAvailable
    | ArtifactPruned
    | RunAnnotated
    | RunDeleted
    | WarningsChanged
    | EventsForgotten
    | RetentionChanged
)


class RunEvent(msgspec.Struct, kw_only=True, frozen=True):
    """One event. `seq` is 0 for events that are not stored."""

    seq: int
    t: float
    run_id: str
    run: RunRecord | None = None
    """The run after the event; None when it was deleted, and for events without a run."""
    what: RunEventBody
