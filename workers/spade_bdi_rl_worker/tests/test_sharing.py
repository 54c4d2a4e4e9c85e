"""Learners of one environment share what they know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

LAKE = {"env_id": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}, "max_episodes": 2_000}


def test_a_twin_that_is_told_all_need_not_learn(tmp_path: Path) -> None:
    """What is shared passes through JSON, as a message does."""
    run = LearningRun(tmp_path, {**LAKE, "telemetry": {"steps": "columns"}})
    learner = run.learner()
    twin = learner.twin("second")
    learner.learn(2_000, always)
    assert twin.evaluate(5, always).success_rate < 1.0

    twin.take_over(json.loads(json.dumps(learner.share())))

    assert twin.evaluate(5, always).success_rate == 1.0
    twin.close()
    run.finish(learner)
    assert {line.get("env_index") for line in run.lines("episode")} == {None, 1}


def test_who_tried_more_often_is_believed_more(tmp_path: Path) -> None:
    """A value becomes the mean of both, weighed by tries; what nobody tried stays."""
    run = LearningRun(tmp_path, LAKE)
    learner = run.learner()
    learner.method.values.put(3, 0, 1.0)
    learner.method.tries[3 * 4] = 1

    learner.take_over({"actions": 4, "rows": {"3": [[5.0, 9.0, 0.0, 0.0], [3, 0, 0, 0]]}})

    assert learner.method.values.rows[3] == [4.0, 0.0, 0.0, 0.0]
    run.finish(learner)


@pytest.mark.parametrize(
    "shared",
    [
        {"actions": 6, "rows": {}},
        {"actions": 4, "rows": {"400": [[0.0] * 4, [1] * 4]}},
        {"actions": 4, "rows": {"3": "nothing"}},
        {},
    ],
)
def test_what_is_of_another_environment_is_refused(tmp_path: Path, shared: object) -> None:
    """With a remedy; a teammate may be anybody who speaks the protocol."""
    run = LearningRun(tmp_path, LAKE)
    learner = run.learner()
    with pytest.raises(WorkerError):
        learner.take_over(shared)  # type: ignore[arg-type]
    run.finish(learner)
