"""Decisions of a single agent, its reported BDI state, pause and stop."""

from __future__ import annotations

import tempfile
import threading
import unittest
from pathlib import Path

from counting_learner import Control, CountingLearner, run_team

from spade_bdi_rl_worker.telemetry.sink import IntentionState

TIMEOUT_S = 20


def _depth(intention: IntentionState) -> int:
    return intention.depth


class DecisionTest(unittest.TestCase):
    def test_trains_the_requested_episodes(self) -> None:
        """The goal !train(N) ends after N episodes, with a reason."""
        learner = CountingLearner(100)

        sink = run_team(learner, batch_episodes=30)

        self.assertEqual(learner.episodes, 100)
        self.assertIn(("W293", "info: learner is done: all episodes are trained"), sink.messages)

    def test_consolidates_towards_the_end(self) -> None:
        """A plan stops exploring after nine tenths of the episodes."""
        learner = CountingLearner(100)

        sink = run_team(learner, batch_episodes=10)

        self.assertIn("consolidate", sink.plans())
        self.assertIn("phase(consolidating)", sink.beliefs())
        self.assertEqual(learner.epsilon, 0.05)

    def test_stops_when_the_goal_is_reached(self) -> None:
        """The goal !reach_goal ends after a successful evaluation, before the last episode."""
        learner = CountingLearner(1000)

        sink = run_team(learner, stop_when_reached=True, goal_success_rate=0.9, batch_episodes=10)

        self.assertLess(learner.episodes, 1000)
        self.assertIn(("W293", "info: learner is done: the goal is reached"), sink.messages)

    def test_evaluates_on_schedule(self) -> None:
        """The plans evaluate every N episodes."""
        sink = run_team(
            CountingLearner(100), batch_episodes=10, evaluate_every=40, evaluation_episodes=7
        )

        self.assertIn("examine", sink.plans())
        self.assertIn("evaluated(7, 1, 1)", sink.beliefs())

    def test_batches_depend_only_on_the_run(self) -> None:
        """Equal runs have equal batches: plans decide at the same episodes."""
        first, second = CountingLearner(1000), CountingLearner(1000)
        run_team(first)
        run_team(second)

        self.assertEqual(first.batches, second.batches)
        self.assertEqual(first.batches[0], 5)


class ReportingTest(unittest.TestCase):
    def test_reports_beliefs_goals_and_intentions(self) -> None:
        """The first update has all beliefs, the goal, and the current plan."""
        first = run_team(CountingLearner(50), batch_episodes=50).updates[0]

        self.assertIn("batch(50)", first.added)
        self.assertEqual(first.goals, ("train(50)",))
        self.assertEqual(first.intentions[0].plan, "practise")
        self.assertEqual(first.plan, "practise")

    def test_reports_the_depth_of_an_intention(self) -> None:
        """A subgoal makes the stack of its intention deeper."""
        learner = CountingLearner(20)
        learner.seconds_per_episode = 0.02  # faster changes would be merged into one report

        updates = run_team(
            learner, batch_episodes=10, evaluate_every=10, evaluation_episodes=10
        ).updates

        intentions = (intention for update in updates for intention in update.intentions)
        deepest = max(intentions, key=_depth)
        self.assertEqual(
            (deepest.goal, deepest.plan, deepest.depth), ("train(20)", "examine_now", 2)
        )
        self.assertEqual(updates[-1].goals, ())

    def test_reports_removed_beliefs(self) -> None:
        """The current beliefs can be reconstructed from all updates."""
        sink = run_team(CountingLearner(50), batch_episodes=25)

        self.assertIn("episodes(50)", sink.beliefs())
        self.assertNotIn("episodes(0)", sink.beliefs())

    def test_confidence_is_the_success_rate_relative_to_the_goal(self) -> None:
        """It is 1 when the success rate is at least the goal."""
        sink = run_team(CountingLearner(50), batch_episodes=25, goal_success_rate=0.5)

        self.assertEqual(sink.updates[-1].confidence, 1.0)


class ControlTest(unittest.TestCase):
    def test_pauses_in_the_middle_of_a_batch(self) -> None:
        """It resumes at the same step."""
        learner, control = CountingLearner(100), Control()
        control.pause()
        thread = threading.Thread(
            target=run_team, args=(learner, control), kwargs={"batch_episodes": 100}
        )
        thread.start()
        self.assertTrue(control.paused.wait(TIMEOUT_S))
        self.assertEqual(learner.episodes, 0)

        control.resume()
        thread.join(TIMEOUT_S)

        self.assertEqual(learner.episodes, 100)

    def test_stops_in_the_middle_of_a_batch(self) -> None:
        """A stop ends the batch and the run, without an error."""
        learner, control = CountingLearner(10**9), Control()
        thread = threading.Thread(
            target=run_team, args=(learner, control), kwargs={"batch_episodes": 10**9}
        )
        control.pause()
        thread.start()
        self.assertTrue(control.paused.wait(TIMEOUT_S))

        control.request_stop("requested by the test")
        thread.join(TIMEOUT_S)

        self.assertFalse(thread.is_alive())

    def test_plans_that_loop(self) -> None:
        """Plans that never learn can be paused and stopped like any others."""
        control = Control()
        with tempfile.TemporaryDirectory() as folder:
            plans = Path(folder, "loop.asl")
            plans.write_text("+!train(N) <- !!train(N).")
            thread = threading.Thread(
                target=run_team, args=(CountingLearner(10), control), kwargs={"asl": str(plans)}
            )
            thread.start()
            control.pause()
            self.assertTrue(control.paused.wait(TIMEOUT_S))
            control.resume()

            control.request_stop("requested by the test")
            thread.join(TIMEOUT_S)

        self.assertFalse(thread.is_alive())

    def test_all_threads_end(self) -> None:
        """At the end, only the calling thread is left."""
        run_team(CountingLearner(20))

        self.assertEqual(threading.enumerate(), [threading.main_thread()])


if __name__ == "__main__":
    unittest.main()
