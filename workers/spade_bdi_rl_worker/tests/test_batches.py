"""Batches: how many episodes, where they stop, and how soon they obey."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun, always

from spade_bdi_rl_worker.learning.asking_pace import AskingPace

if TYPE_CHECKING:
    from pathlib import Path

CLIFF = {"env_id": "CliffWalking-v1", "params": {"epsilon_start": 1.0, "epsilon_end": 1.0}}
"""At random an episode takes thousands of steps: a batch is left in the middle of one."""


class Asked:
    """Says no at the n-th time."""

    def __init__(self, no_at: int) -> None:
        self.left = no_at

    def __call__(self) -> bool:
        self.left -= 1
        return self.left > 0


def test_a_batch_has_as_many_episodes_as_asked_for_and_a_run_no_more(tmp_path: Path) -> None:
    """Evaluations are not counted."""
    lake = {"env_id": "FrozenLake-v1", "max_episodes": 25}
    run = LearningRun(tmp_path, lake)
    learner = run.learner()

    batches = [learner.learn(10, always)]
    assert learner.evaluate(5, always).episodes == 5
    batches += [learner.learn(100, always), learner.learn(100, always)]
    assert [each.episodes for each in batches] == [10, 25, 25]
    assert [each.is_complete for each in batches] == [False, True, True]
    run.finish(learner)
    assert len(run.lines("episode")) == 30


def test_a_run_of_so_many_steps_has_exactly_those(tmp_path: Path) -> None:
    """Also when the last one is in the middle of an episode."""
    run = LearningRun(tmp_path, {**CLIFF, "total_timesteps": 1234, "telemetry": {"steps": "all"}})
    learner = run.learner()
    progress = learner.learn(1_000, always)
    run.finish(learner)

    assert (progress.steps, progress.is_complete) == (1234, True)
    assert len(run.lines("step")) == 1234


def test_a_batch_is_left_in_the_middle_of_an_episode_and_continued(tmp_path: Path) -> None:
    """Told to stop it does, within a few steps; nothing of the episode is lost or told twice."""
    run = LearningRun(tmp_path, {**CLIFF, "max_episodes": 1, "telemetry": {"steps": "columns"}})
    learner = run.learner()
    left = learner.learn(1, Asked(3))
    assert (left.episodes, left.is_complete) == (0, False)
    assert 0 < left.steps < 500

    done = learner.learn(1, always)
    run.finish(learner)

    (episode,) = run.lines("episode")
    assert done.steps == episode["steps"] > left.steps
    told = sum(len(line["actions"]) for line in [*run.lines("steps"), episode])
    assert told == episode["steps"]


def test_an_episode_that_is_left_for_an_evaluation_stays_unfinished(tmp_path: Path) -> None:
    """It is told as far as it came; the evaluation begins with a new one."""
    run = LearningRun(tmp_path, {**CLIFF, "max_episodes": 2, "telemetry": {"steps": "columns"}})
    learner = run.learner()
    left = learner.learn(1, Asked(3))
    learner.evaluate(1, Asked(2))
    assert (learner.progress.episodes, learner.progress.steps) == (0, left.steps)
    run.finish(learner)

    cut = run.lines("episode")[0]
    assert (cut["terminated"], cut["truncated"]) == (False, False)
    assert cut["steps"] == left.steps


def test_it_asks_more_often_than_every_ten_milliseconds() -> None:
    """Whether a step takes a microsecond or a second; by a clock of the test's own."""
    for step_s in (1e-6, 1e-4, 3e-3, 1.0):
        now = 0.0
        pace = AskingPace(clock=lambda: now)  # noqa: B023 - called at once
        longest = 0.0
        for _ in range(50):
            steps = pace.begin()
            now += steps * step_s
            longest = max(longest, steps * step_s)
            pace.worked(steps)
        assert longest <= max(0.01, 8 * step_s)
        assert steps == 1 or steps * step_s > 0.002


def test_it_can_be_slowed_down_to_be_watched() -> None:
    """The time that is too much is waited for."""
    now = 0.0
    pace = AskingPace(100.0, clock=lambda: now)
    steps = pace.begin()
    now += 0.001
    assert pace.worked(steps) == steps / 100 - 0.001


def test_best_actions_that_lead_in_circles_are_cut(tmp_path: Path) -> None:
    """CliffWalking has no limit of its own; a table that always goes up does not play for ever.

    The limit is part of the environment as it is told, so the episode replays as truncated.
    """
    run = LearningRun(tmp_path, {"env_id": "CliffWalking-v1", "max_episodes": 5})
    learner = run.learner()
    for state in range(48):
        learner.method.values.put(state, 0, 1.0)
    score = learner.evaluate(2, always)
    run.finish(learner)

    assert (score.success_rate, score.mean_length) == (0.0, 2_000)
    assert [line["truncated"] for line in run.lines("episode")] == [True, True]
    assert run.lines("environment")[0]["max_episode_steps"] == 2_000


def test_a_person_may_set_the_limit(tmp_path: Path) -> None:
    """Also below the environment's own."""
    lake = {"env_id": "FrozenLake8x8-v1", "env_kwargs": {"is_slippery": False}, "max_episodes": 50}
    run = LearningRun(tmp_path, {**lake, "params": {"max_episode_steps": 7}})
    learner = run.learner()
    learner.learn(50, always)
    run.finish(learner)

    assert max(line["steps"] for line in run.lines("episode")) == 7
