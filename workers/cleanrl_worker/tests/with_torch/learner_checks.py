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


def train_learner(learner: Any, args: Any, directory: Path, **options: Any) -> RecordingSink:
    """Train with a module of `cleanrl_worker.learners`; returns the sink."""
    algo = learner.__name__.rpartition(".")[2]
    session, sink = quiet_session(algo, args, directory, **options)
    try:
        learner.train(args, session)
    finally:
        session.close()
    return sink


def train_to_checkpoint(learner: Any, args: Any) -> tuple[TrainingCheckpoint, RecordingSink]:
    """Return the last checkpoint and the sink."""
    with tempfile.TemporaryDirectory() as directory:
        sink = train_learner(learner, args, Path(directory))
        return read_checkpoint(Path(directory) / "checkpoints" / "last.pt"), sink


def curves_of(sink: RecordingSink, after: int = 0) -> dict[str, list[tuple[int, float]]]:
    """Return the curves that do not depend on the speed of the machine."""
    return {
        name: [point for point in points if point[0] > after]
        for name, points in sink.curves.items()
        if name != SPEED
    }


def assert_resumes_exactly(case: unittest.TestCase, learner: Any, args: Any, middle: int) -> None:
    """A training resumed from `middle` logs and learns the same as an uninterrupted one."""
    with tempfile.TemporaryDirectory() as directory:
        full_folder, resumed_folder = Path(directory) / "whole", Path(directory) / "resumed"
        scheduled = dataclasses.replace(args, checkpoint_every=middle)
        full = train_learner(learner, scheduled, full_folder, keep_checkpoints=9)
        path = full_folder / "checkpoints" / f"step-{middle}.pt"
        resumed = train_learner(learner, scheduled, resumed_folder, resume=path)
        expected = curves_of(full, after=middle)
        case.assertTrue(any(name.startswith("losses/") for name in expected))
        case.assertEqual(curves_of(resumed), expected)
        ends = [
            read_checkpoint(folder / "checkpoints" / "last.pt")
            for folder in (full_folder, resumed_folder)
        ]
    case.assertEqual(ends[0].global_step, ends[1].global_step)
    for name, tensor in ends[0].policy.items():
        case.assertTrue(np.array_equal(tensor, ends[1].policy[name]), name)


def assert_depends_only_on_seed(case: unittest.TestCase, learner: Any, args: Any) -> None:
    """Equal curves with one seed, different ones with another."""
    first, again, other = (
        curves_of(train_to_checkpoint(learner, dataclasses.replace(args, seed=seed))[1])
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
