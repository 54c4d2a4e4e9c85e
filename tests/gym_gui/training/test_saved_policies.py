"""Checkpoints as a person thinks of them: moments of a run, not names of files."""

import json

from gym_gui.training.feed.saved_policies import policies_in
from mosaic.contract.storage import CheckpointRecord


def saved(name: str, step: int | None, *, run_id: str = "r", **meta: object) -> CheckpointRecord:
    told = meta if step is None else {"step": step, **meta}
    return CheckpointRecord(
        checkpoint_id=f"{run_id}.{name}",
        source="run" if run_id else "imported",
        run_id=run_id,
        path=f"trainer/runs/{run_id}/checkpoints/{name}.pt",
        size_bytes=1000,
        t=50.0,
        worker="cleanrl_worker",
        meta_json=json.dumps(told).encode(),
    )


def test_one_policy_under_several_names() -> None:
    """The best and the last are marks of a step; its own name is what is remembered."""
    metrics = {"episodic_return": 167.0}
    found = policies_in(
        [
            saved("last", 200, metrics=metrics),
            saved("step-200", 200, metrics=metrics),
            saved("step-100", 100),
            saved("best", 100),
            saved("step-100", 100, run_id="other"),
        ]
    )
    assert [policy.id for policy in found] == ["r.step-200", "r.step-100", "other.step-100"]
    assert [(policy.is_best, policy.is_last) for policy in found] == [
        (False, True),
        (True, False),
        (False, False),
    ]
    assert found[0].mean_return == 167.0
    assert found[1].mean_return is None


def test_what_tells_nothing_of_itself() -> None:
    """An imported file, and one whose description cannot be read, are listed by their names."""
    unreadable = CheckpointRecord(
        checkpoint_id="x", source="run", run_id="r", path="a/b.pt", size_bytes=1, t=1.0, worker="w",
        meta_json=b"{",
    )  # fmt: skip
    found = policies_in([saved("mine", None, run_id=""), unreadable])
    assert [(policy.file, policy.step) for policy in found] == [("mine.pt", None), ("b.pt", None)]
