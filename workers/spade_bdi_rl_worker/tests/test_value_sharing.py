"""Learners of one environment share action values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

LAKE = {"env_id": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}, "max_episodes": 2_000}


def test_a_partner_uses_shared_values(tmp_path: Path) -> None:
    """The values are encoded as JSON and decoded, as in a message."""
    run = LearningRun(tmp_path, {**LAKE, "telemetry": {"steps": "columns"}})
    learner = run.learner()
    partner = learner.make_partner("second")
    learner.learn(2_000, always)
    assert partner.evaluate(5, always).success_rate < 1.0

    partner.merge_values(json.loads(json.dumps(learner.export_values())))

    assert partner.evaluate(5, always).success_rate == 1.0
    partner.close()
    run.finish(learner)
    assert {line.get("env_index") for line in run.lines("episode")} == {None, 1}


def test_values_are_weighted_by_visits(tmp_path: Path) -> None:
    """Unvisited values stay as they are."""
    run = LearningRun(tmp_path, LAKE)
    learner = run.learner()
    learner.method.values.set_value(3, 0, 1.0)
    learner.method.visits[3 * 4] = 1

    learner.merge_values({"actions": 4, "rows": {"3": [[5.0, 9.0, 0.0, 0.0], [3, 0, 0, 0]]}})

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
def test_values_of_another_environment_are_rejected(tmp_path: Path, shared: object) -> None:
    """An error is raised, because a teammate can be any XMPP client."""
    run = LearningRun(tmp_path, LAKE)
    learner = run.learner()
    with pytest.raises(WorkerError):
        learner.merge_values(shared)  # type: ignore[arg-type]
    run.finish(learner)
