"""A coach and a learner, and two learners that share values: in the process and through XMPP."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from counting_learner import CountingLearner, run_team

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.agent import runner
from spade_bdi_rl_worker.teams.value_sharing import ValueReceiver, encode_messages


class CoachTest(unittest.TestCase):
    xmpp = ""

    def test_the_coach_sets_the_goals(self) -> None:
        """The learner trains in lessons of the coach, which also ends the run."""
        learner = CountingLearner(100)

        sink = run_team(learner, team="coach", batch_episodes=10, xmpp=self.xmpp)

        self.assertEqual(learner.episodes, 100)
        self.assertIn(
            ("W293", "info: coach is done: the learner has reached the goal"), sink.messages
        )
        self.assertEqual(sink.plans("coach").count("first_lesson"), 1)
        scores = [belief for belief in sink.beliefs("coach") if belief.startswith("scored(")]
        self.assertIn("[source(", scores[0])
        self.assertIn("learner@localhost", scores[0])

    def test_the_coach_tests_early(self) -> None:
        """With a target, the training ends when an evaluation reaches it."""
        learner = CountingLearner(1000)

        run_team(learner, team="coach", batch_episodes=10, stop_when_reached=True, xmpp=self.xmpp)

        self.assertEqual(learner.episodes, 500)


class CoachThroughXmppTest(CoachTest):
    """The same through the embedded server."""

    xmpp = "embedded"


class PairTest(unittest.TestCase):
    xmpp = ""

    def test_learners_share_values(self) -> None:
        """Each merges the other's values several times."""
        learner = CountingLearner(100)

        sink = run_team(learner, team="pair", batch_episodes=20, xmpp=self.xmpp)

        partner = learner.partner
        assert partner is not None
        self.assertEqual((learner.episodes, partner.episodes), (100, 100))
        self.assertGreater(len(learner.merged), 1)
        self.assertEqual(learner.merged[0], partner.export_values())
        self.assertEqual(partner.merged[0], learner.export_values())
        for name in ("learner", "learner2"):
            beliefs = sink.beliefs(name)
            self.assertTrue(any(belief.startswith("taken_over(") for belief in beliefs))


class PairThroughXmppTest(PairTest):
    """Tables that exceed a server's message limit arrive complete."""

    xmpp = "embedded"


class WrongTeamTest(unittest.TestCase):
    def test_agents_that_wait_for_each_other(self) -> None:
        """A deadlocked team ends with a reason."""
        self.addCleanup(setattr, runner, "_STALL_TIMEOUT_S", runner._STALL_TIMEOUT_S)
        runner._STALL_TIMEOUT_S = 0.2
        with tempfile.TemporaryDirectory() as folder:
            plans = Path(folder, "silent.asl")
            plans.write_text("+!train(N) <- .learn(5).")
            with self.assertRaises(WorkerError) as raised:
                run_team(CountingLearner(50), team="coach", asl=str(plans))

        self.assertIn("wait for each other", raised.exception.message)

    def test_messages_to_unknown_agents(self) -> None:
        """They end the run with an error."""
        with tempfile.TemporaryDirectory() as folder:
            plans = Path(folder, "sends.asl")
            plans.write_text(
                '+!train(N) <- .send("nobody@localhost", tell, hello); .learn(5); !!train(N).'
            )
            with self.assertRaises(WorkerError) as raised:
                run_team(CountingLearner(10**6), asl=str(plans))

        self.assertIn("nobody@localhost", raised.exception.message)

    def test_unknown_team(self) -> None:
        """The error lists the available teams."""
        with self.assertRaises(WorkerError) as raised:
            run_team(CountingLearner(50), team="unknown")

        self.assertIn("alone, coach, pair", raised.exception.remedy)


class ValueTransferTest(unittest.TestCase):
    def test_a_large_table_is_split_into_messages(self) -> None:
        """Messages in any order are joined; each is small enough for a server."""
        table = {str(state): [state * 0.1234567, -state] for state in range(15_000)}

        messages = encode_messages(table)

        self.assertGreater(len(messages), 3)
        self.assertLess(max(map(len, messages)), 60_000)
        receiver = ValueReceiver()
        results = [receiver.add("a@b", message) for message in reversed(messages)]
        self.assertEqual(results[:-1], [None] * (len(messages) - 1))
        self.assertEqual(results[-1], table)

    def test_an_incomplete_transfer_is_dropped(self) -> None:
        """A newer one replaces it, and broken ones are ignored."""
        old, new = encode_messages(list(range(90_000))), encode_messages([1])
        receiver = ValueReceiver()

        self.assertIsNone(receiver.add("a@b", old[0]))
        self.assertEqual(receiver.add("a@b", new[0]), [1])
        self.assertIsNone(receiver.add("a@b", old[-1]))
        self.assertIsNone(receiver.add("a@b", "not JSON"))


if __name__ == "__main__":
    unittest.main()
