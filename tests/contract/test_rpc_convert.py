"""Structs and messages of the control plane have the same fields, and convert without loss."""

import typing

import msgspec
import pytest

from mosaic.contract import episodes, readiness, run_events, runs, settings_view, storage
from mosaic.contract.rpc import trainer_pb2
from mosaic.contract.rpc.convert import from_message, to_message
from mosaic.contract.run_states import RunState

_MESSAGE_NAMES = {
    runs.RunStats: "RunDigest",
    storage.CheckpointRecord: "Checkpoint",
    storage.RetentionStatus: "Retention",
}
"""Structs whose message has another name."""

_SAME = [
    (struct, getattr(trainer_pb2, _MESSAGE_NAMES.get(struct, struct.__name__)))
    for module in (runs, run_events, readiness, storage, settings_view)
    for struct in vars(module).values()
    if isinstance(struct, type)
    and issubclass(struct, msgspec.Struct)
    and struct.__module__ == module.__name__
    and not struct.__name__.endswith("Query")
] + [
    (runs.RunQuery, trainer_pb2.ListRunsRequest),
    (episodes.EpisodeRollup, trainer_pb2.Episode),
    (episodes.EpisodePage, trainer_pb2.EpisodePage),
    (episodes.EpisodeDetails, trainer_pb2.EpisodeDetails),
    (storage.CheckpointQuery, trainer_pb2.ListCheckpointsRequest),
]


@pytest.mark.parametrize(("struct", "message"), _SAME)
def test_same_fields(struct: type[msgspec.Struct], message: typing.Any) -> None:
    """A field of only one side would be dropped silently."""
    in_oneofs = {
        field.name
        for oneof in message.DESCRIPTOR.oneofs
        if not oneof.name.startswith("_")
        for field in oneof.fields
    }
    alone = {field.name for field in message.DESCRIPTOR.fields} - in_oneofs
    oneofs = {o.name for o in message.DESCRIPTOR.oneofs if not o.name.startswith("_")}
    assert set(struct.__struct_fields__) == alone | oneofs


def _run() -> runs.RunRecord:
    return runs.RunRecord(
        run_id="01J",
        worker="echo_worker",
        mode="train",
        env_id="Echo-v0",
        seed=2**62,
        state=RunState.FAILED,
        exit_code=-9,
        created_at=1.5,
        tags=("a", "ü"),
        digest=runs.RunStats(steps=3, mean_return=-0.0),
    )


@pytest.mark.parametrize(
    "value",
    [
        _run(),
        runs.RunDetails(
            run=_run(),
            config_json=b"{}",
            bundle=runs.BundleUse(name="b", hash="h", path="p", python="3", packages={"x": "1"}),
            history=(runs.StateChange(state=RunState.QUEUED, t=1.0),),
            queue_position=0,
        ),
        runs.RunPage(runs=(_run(), _run()), total=2),
        run_events.RunEvent(seq=4, t=2.0, run_id="01J", what=run_events.RunDeleted()),
        run_events.RunEvent(
            seq=5,
            t=2.0,
            run_id="01J",
            run=_run(),
            what=run_events.StateChanged(
                change=runs.StateChange(state=RunState.LOST, t=2.0, reason="gone"),
                output_tail=("last",),
            ),
        ),
        run_events.RunEvent(
            seq=6, t=3.0, run_id="", what=run_events.RetentionChanged(freed_bytes=7, removed=1)
        ),
        storage.RetentionStatus(
            keep_days=0.5, used=(storage.StorageUse(kind="videos", size_bytes=2**40),)
        ),
        readiness.InstallProgress(
            phase="done", bundle=readiness.BundleInfo(name="b", state="ready")
        ),
        readiness.PreflightReport(
            items=(
                readiness.PreflightItem(
                    check="gpu", status=readiness.CheckStatus.WARNING, message="none"
                ),
            )
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_round_trip(value: msgspec.Struct) -> None:
    """A converted value converts back to an equal one."""
    message = to_message(
        value, getattr(trainer_pb2, _MESSAGE_NAMES.get(type(value), type(value).__name__))
    )
    again = type(message).FromString(message.SerializeToString())
    assert from_message(again, type(value)) == value
