"""Batches: number of episodes, limits, and interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from spade_bdi_rl_worker.learning.learner import StepPacer

if TYPE_CHECKING:
    from pathlib import Path

CLIFF = {"env_id": "CliffWalking-v1", "params": {"epsilon_start": 1.0, "epsilon_end": 1.0}}
"""Random episodes take thousands of steps: a batch is interrupted in the middle of one."""


class StopAfter:
    """Returns False from the n-th call on."""

    def __init__(self, calls: int) -> None:
        self.remaining = calls

    def __call__(self) -> bool:
        self.remaining -= 1
        return self.remaining > 0


def test_batches_stay_within_the_episodes_of_the_run(tmp_path: Path) -> None:
    """Evaluations are not counted."""
    lake = {"env_id": "FrozenLake-v1", "max_episodes": 25}
    run = LearningRun(tmp_path, lake)
    learner = run.learner()

    batches = [learner.learn(10, always)]
    assert learner.evaluate(5, always).episodes == 5
    batches += [learner.learn(100, always), learner.learn(100, always)]
    assert [progress.episodes for progress in batches] == [10, 25, 25]
    assert [progress.is_complete for progress in batches] == [False, True, True]
    run.finish(learner)
    assert len(run.lines("episode")) == 30


def test_a_run_limited_by_steps_has_exactly_that_many(tmp_path: Path) -> None:
    """Even if the last step is in the middle of an episode."""
    run = LearningRun(tmp_path, {**CLIFF, "total_timesteps": 1234, "telemetry": {"steps": "all"}})
    learner = run.learner()
    progress = learner.learn(1_000, always)
    run.finish(learner)

    assert (progress.steps, progress.is_complete) == (1234, True)
    assert len(run.lines("step")) == 1234


def test_an_interrupted_batch_resumes_its_episode(tmp_path: Path) -> None:
    """It stops within a few steps; no step is lost or written twice."""
    run = LearningRun(tmp_path, {**CLIFF, "max_episodes": 1, "telemetry": {"steps": "columns"}})
    learner = run.learner()
    interrupted = learner.learn(1, StopAfter(3))
    assert (interrupted.episodes, interrupted.is_complete) == (0, False)
    assert 0 < interrupted.steps < 500

    finished = learner.learn(1, always)
    run.finish(learner)

    (episode,) = run.lines("episode")
    assert finished.steps == episode["steps"] > interrupted.steps
    written = sum(len(line["actions"]) for line in [*run.lines("steps"), episode])
    assert written == episode["steps"]


def test_an_evaluation_abandons_the_open_episode(tmp_path: Path) -> None:
    """Its steps are written; the evaluation starts a new episode."""
    run = LearningRun(tmp_path, {**CLIFF, "max_episodes": 2, "telemetry": {"steps": "columns"}})
    learner = run.learner()
    interrupted = learner.learn(1, StopAfter(3))
    learner.evaluate(1, StopAfter(2))
    assert (learner.progress.episodes, learner.progress.steps) == (0, interrupted.steps)
    run.finish(learner)

    abandoned = run.lines("episode")[0]
    assert (abandoned["terminated"], abandoned["truncated"]) == (False, False)
    assert abandoned["steps"] == interrupted.steps


def test_control_is_checked_at_least_every_ten_milliseconds() -> None:
    """For steps of a microsecond to a second, with a fake clock."""
    for step_s in (1e-6, 1e-4, 3e-3, 1.0):
        now = 0.0
        pacer = StepPacer(clock=lambda: now)  # noqa: B023 - called immediately
        max_interval_s = 0.0
        for _ in range(50):
            steps = pacer.start()
            now += steps * step_s
            max_interval_s = max(max_interval_s, steps * step_s)
            pacer.stop(steps)
        assert max_interval_s <= max(0.01, 8 * step_s)
        assert steps == 1 or steps * step_s > 0.002


def test_the_speed_can_be_limited() -> None:
    """The pacer returns the time to wait."""
    now = 0.0
    pacer = StepPacer(100.0, clock=lambda: now)
    steps = pacer.start()
    now += 0.001
    assert pacer.stop(steps) == steps / 100 - 0.001


def test_looping_greedy_actions_are_truncated(tmp_path: Path) -> None:
    """CliffWalking has no step limit; a policy that always moves up would never finish.

    The limit is part of the recorded environment, so the episode replays as truncated.
    """
    run = LearningRun(tmp_path, {"env_id": "CliffWalking-v1", "max_episodes": 5})
    learner = run.learner()
    for state in range(48):
        learner.method.values.set_value(state, 0, 1.0)
    score = learner.evaluate(2, always)
    run.finish(learner)

    assert (score.success_rate, score.mean_length) == (0.0, 2_000)
    assert [line["truncated"] for line in run.lines("episode")] == [True, True]
    assert run.lines("environment")[0]["max_episode_steps"] == 2_000


def test_the_user_can_set_the_step_limit(tmp_path: Path) -> None:
    """It can be lower than the environment's own limit."""
    lake = {"env_id": "FrozenLake8x8-v1", "env_kwargs": {"is_slippery": False}, "max_episodes": 50}
    run = LearningRun(tmp_path, {**lake, "params": {"max_episode_steps": 7}})
    learner = run.learner()
    learner.learn(50, always)
    run.finish(learner)

    assert max(line["steps"] for line in run.lines("episode")) == 7
