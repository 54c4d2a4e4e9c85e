"""A coach ends the lessons when its learner has no episodes or steps left."""

from __future__ import annotations

import unittest
from dataclasses import replace
from typing import TYPE_CHECKING

from counting_learner import CountingLearner, run_team

if TYPE_CHECKING:
    from spade_bdi_rl_worker.learning.learner import LearningProgress


class UnsuccessfulLearner(CountingLearner):
    """Never succeeds."""

    @property
    def _success_rate(self) -> float:
        return 0.1


class LimitedByStepsLearner(UnsuccessfulLearner):
    """Its run is limited by steps; the number of episodes is known only at the end."""

    @property
    def progress(self) -> LearningProgress:
        return replace(super().progress, total_episodes=None, total_steps=self.total * 8)


class UnfinishedEpisodeLearner(LimitedByStepsLearner):
    """Its steps are used up before an episode ends."""

    has_finished = False

    @property
    def progress(self) -> LearningProgress:
        steps = self.total * 8 if self.has_finished else 0
        return replace(super().progress, episodes=0, steps=steps)

    def learn(self, episodes: int, should_continue: object) -> LearningProgress:  # noqa: ARG002 - the interface
        self.has_finished = True
        return self.progress


class CoachTest(unittest.TestCase):
    def assert_lessons_end(self, learner: CountingLearner, *, stop_when_reached: bool) -> None:
        sink = run_team(learner, team="coach", stop_when_reached=stop_when_reached)

        self.assertIn(("W293", "info: coach is done: all lessons are finished"), sink.messages)

    def test_steps_are_used_up(self) -> None:
        """The coach does not wait for more episodes."""
        for stop_when_reached in (False, True):
            with self.subTest(stop_when_reached=stop_when_reached):
                learner = LimitedByStepsLearner(40)
                self.assert_lessons_end(learner, stop_when_reached=stop_when_reached)
                self.assertEqual(learner.episodes, 40)

    def test_fewer_episodes_than_lessons(self) -> None:
        """A run of seven episodes does not have ten lessons."""
        self.assert_lessons_end(UnsuccessfulLearner(7), stop_when_reached=True)

    def test_no_episode_has_finished(self) -> None:
        """A learner without a finished episode reports to the coach."""
        self.assert_lessons_end(UnfinishedEpisodeLearner(40), stop_when_reached=False)


if __name__ == "__main__":
    unittest.main()
