"""Checks for every learner: equal seeds and resumed runs give equal curves."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from quiet_session import RecordingSink, quiet_session

from cleanrl_worker.playing import Policy
from cleanrl_worker.session.checkpoint import TrainingCheckpoint, read_checkpoint

if TYPE_CHECKING:
    import unittest

SPEED = "charts/SPS"


def trained(learner: Any, args: Any, directory: Path, **plan: Any) -> RecordingSink:
    """Train with a module of `cleanrl_worker.learners`; returns the sink."""
    algo = learner.__name__.rpartition(".")[2]
    session, sink = quiet_session(algo, args, directory, **plan)
    try:
        learner.train(args, session)
    finally:
        session.close()
    return sink


def trained_checkpoint(learner: Any, args: Any) -> tuple[TrainingCheckpoint, RecordingSink]:
    """Return the last checkpoint and the sink."""
    with tempfile.TemporaryDirectory() as directory:
        sink = trained(learner, args, Path(directory))
        return read_checkpoint(Path(directory) / "checkpoints" / "last.pt"), sink


def curves_of(sink: RecordingSink, after: int = 0) -> dict[str, list[tuple[int, float]]]:
    """Everything that does not depend on the speed of the machine."""
    return {
        name: [point for point in points if point[0] > after]
        for name, points in sink.curves.items()
        if name != SPEED
    }


def assert_resumes_exactly(case: unittest.TestCase, learner: Any, args: Any, middle: int) -> None:
    """A training resumed from `middle` logs and learns the same as an uninterrupted one."""
    with tempfile.TemporaryDirectory() as directory:
        whole_at, resumed_at = Path(directory) / "whole", Path(directory) / "resumed"
        scheduled = dataclasses.replace(args, checkpoint_every=middle)
        whole = trained(learner, scheduled, whole_at, keep_checkpoints=9)
        begin = whole_at / "checkpoints" / f"step-{middle}.pt"
        resumed = trained(learner, scheduled, resumed_at, resume=begin)
        expected = curves_of(whole, after=middle)
        case.assertTrue(any(name.startswith("losses/") for name in expected))
        case.assertEqual(curves_of(resumed), expected)
        ends = [
            read_checkpoint(each / "checkpoints" / "last.pt") for each in (whole_at, resumed_at)
        ]
    case.assertEqual(ends[0].global_step, ends[1].global_step)
    for name, tensor in ends[0].policy.items():
        case.assertTrue(np.array_equal(tensor, ends[1].policy[name]), name)


def assert_depends_on_seed_alone(case: unittest.TestCase, learner: Any, args: Any) -> None:
    """Equal curves with one seed, different ones with another."""
    first, again, other = (
        curves_of(trained_checkpoint(learner, dataclasses.replace(args, seed=seed))[1])
        for seed in (1, 1, 2)
    )
    case.assertEqual(first, again)
    case.assertNotEqual(first, other)


def assert_acts(
    case: unittest.TestCase, learner: Any, checkpoint: TrainingCheckpoint, env: Any
) -> None:
    """The greedy policy is deterministic; both kinds return valid actions."""
    observation, _ = env.reset(seed=1)
    greedy: Policy = learner.load_policy(checkpoint)
    sampled: Policy = learner.load_policy(checkpoint, sampled=True)
    case.assertEqual(len({greedy.act(observation) for _ in range(5)}), 1)
    for policy in (greedy, sampled):
        case.assertIn(policy.act(observation), env.action_space)
