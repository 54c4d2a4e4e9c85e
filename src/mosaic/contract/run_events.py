"""What `WatchRuns` tells: something happened to a run.

Each event but a digest has a number and is kept, so that a client that was away goes on where it
stopped. The messages of the same names in `proto/trainer.proto` have the same fields.
"""

import msgspec

from mosaic.contract.runs import RunRecord, StateChange


class StateChanged(msgspec.Struct, kw_only=True, frozen=True, tag="state"):
    """The run came into another state."""

    change: StateChange
    exit_code: int | None = None
    output_tail: tuple[str, ...] = ()
    """Of a final state: the last 50 lines of the run's output."""


class DigestChanged(msgspec.Struct, frozen=True, tag="digest"):
    """The numbers in `RunRecord.digest` are newer. Not kept."""


class ArtifactsAvailable(msgspec.Struct, kw_only=True, frozen=True, tag="artifacts"):
    """The run's directory holds other artifacts than before."""

    manifest_json: bytes


class ArtifactPruned(msgspec.Struct, kw_only=True, frozen=True, tag="pruned"):
    """An artifact was removed to free room."""

    path: str
    freed_bytes: int
    reason: str


class RunAnnotated(msgspec.Struct, frozen=True, tag="annotated"):
    """Name, tags, note or archive flag were changed by a person."""


class RunDeleted(msgspec.Struct, frozen=True, tag="deleted"):
    """The run and all its files are gone."""


class WarningsChanged(msgspec.Struct, frozen=True, tag="warnings"):
    """`RunRecord.warnings` is different."""


class RetentionChanged(msgspec.Struct, kw_only=True, frozen=True, tag="retention"):
    """Artifacts of runs were removed to free room. Of no run: `RunEvent.run_id` is empty."""

    freed_bytes: int
    removed: int
    """How many artifacts; each has an `ArtifactPruned` of its own."""


class EventsForgotten(msgspec.Struct, frozen=True, tag="forgotten"):
    """Earlier events are no longer kept: list the runs again, then go on from this `seq`."""


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
    """One thing that happened. `seq` is 0 for what is not kept."""

    seq: int
    t: float
    run_id: str
    run: RunRecord | None = None
    """The run as it is now; None when it is deleted, and for an event of no run."""
    what: RunEventBody
