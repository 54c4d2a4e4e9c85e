"""merge_checkpoints: one policy per step of a run, not per file."""

import json

from gym_gui.training.feed.saved_policies import merge_checkpoints
from mosaic.contract.storage import CheckpointRecord


def checkpoint(
    name: str, step: int | None, *, run_id: str = "r", **meta: object
) -> CheckpointRecord:
    document = meta if step is None else {"step": step, **meta}
    return CheckpointRecord(
        checkpoint_id=f"{run_id}.{name}",
        source="run" if run_id else "imported",
        run_id=run_id,
        path=f"trainer/runs/{run_id}/checkpoints/{name}.pt",
        size_bytes=1000,
        t=50.0,
        worker="cleanrl_worker",
        meta_json=json.dumps(document).encode(),
    )


def test_one_policy_under_several_names() -> None:
    """`best` and `last` become marks; the name with the step is preferred."""
    metrics = {"episodic_return": 167.0}
    policies = merge_checkpoints(
        [
            checkpoint("last", 200, metrics=metrics),
            checkpoint("step-200", 200, metrics=metrics),
            checkpoint("step-100", 100),
            checkpoint("best", 100),
            checkpoint("step-100", 100, run_id="other"),
        ]
    )
    assert [policy.id for policy in policies] == ["r.step-200", "r.step-100", "other.step-100"]
    assert [(policy.is_best, policy.is_last) for policy in policies] == [
        (False, True),
        (True, False),
        (False, False),
    ]
    assert policies[0].mean_return == 167.0
    assert policies[1].mean_return is None


def test_checkpoints_without_metadata() -> None:
    """An imported file, and one with invalid metadata, are listed by file name."""
    unreadable = CheckpointRecord(
        checkpoint_id="x", source="run", run_id="r", path="a/b.pt", size_bytes=1, t=1.0, worker="w",
        meta_json=b"{",
    )  # fmt: skip
    policies = merge_checkpoints([checkpoint("mine", None, run_id=""), unreadable])
    assert [(policy.file, policy.step) for policy in policies] == [
        ("mine.pt", None),
        ("b.pt", None),
    ]
