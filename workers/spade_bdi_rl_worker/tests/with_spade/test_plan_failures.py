"""User plans that cannot be used: each error has the location and a remedy."""

from __future__ import annotations

import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from counting_learner import Control, CountingLearner, ListSink, run_team

from spade_bdi_rl_worker.messaging.stub_imports import import_spade

import_spade()

from mosaic_worker.errors import WorkerError  # noqa: E402 - after `import_spade`
from spade_bdi_rl_worker.agent import deliberation, run_agents  # noqa: E402
from spade_bdi_rl_worker.settings import AgentSettings  # noqa: E402


class StoppingSink(ListSink):
    """Stops the run at its first warning."""

    control: Control

    def log(self, level: str, code: str, message: str, **fields: Any) -> None:
        super().log(level, code, message, **fields)
        if level == "warning":
            self.control.request_stop("requested by the test")


class PlanFailuresTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "own.asl")
        self.learner = CountingLearner(40)

    def error_of(self, plans: str) -> WorkerError:
        """Return the error of a run with these plans."""
        self.file.write_text(textwrap.dedent(plans))
        with self.assertRaises(WorkerError) as raised:
            run_team(self.learner, asl=str(self.file))
        self.assertTrue(raised.exception.remedy)
        return raised.exception

    def test_own_plans_are_used(self) -> None:
        """A user's file replaces the built-in plans."""
        self.file.write_text('@mine\n+!train(N) <- .learn(7); .done("done").')

        sink = run_team(self.learner, asl=str(self.file))

        self.assertEqual(self.learner.batches, [7])
        self.assertIn("mine", sink.plans())

    def test_broken_file(self) -> None:
        """A syntax error is reported with file and line."""
        error = self.error_of("""\
            +!train(N) : batch(B)
               <- .learn(B
                  !!train(N).
            """)

        self.assertIn("own.asl, line 3", error.message)

    def test_unknown_action(self) -> None:
        """It is found before the training starts."""
        error = self.error_of("+!train(N)\n   <- .lern(5).")

        self.assertIn("line 2: no such action '.lern/1'", error.message)
        self.assertEqual(self.learner.batches, [])

    def test_missing_file(self) -> None:
        """The error names the file and the available plans."""
        with self.assertRaises(WorkerError) as raised:
            run_team(self.learner, asl=str(self.file))

        self.assertIn("own.asl", raised.exception.message)
        self.assertIn("learner", raised.exception.remedy)

    def test_not_utf8(self) -> None:
        """A file that is not UTF-8 is rejected."""
        self.file.write_bytes(b"\xff\xfe")
        with self.assertRaises(WorkerError) as raised:
            run_team(self.learner, asl=str(self.file))

        self.assertIn("UTF-8", raised.exception.remedy)

    def test_no_plan_is_applicable(self) -> None:
        """The error lists the goal, the beliefs and the plans whose context does not hold."""
        error = self.error_of("+!train(N) : episodes(E) & E > 1000 <- .learn(5).")

        self.assertIn("!train(40)", error.message)
        self.assertIn("episodes(0)", error.message)
        self.assertIn("own.asl, line 1 (+!train/1): `E > 1000` does not hold.", error.message)
        self.assertIsNone(error.__cause__)

    def test_mistyped_condition(self) -> None:
        """The error lists every relevant plan with its line, and why it is not applicable."""
        error = self.error_of("""\
            @small
            +!train(7) <- .learn(7).

            @mistyped
            +!train(N) : target(T) & bach(B)
               <- .learn(B).

            +!train(N) : not batch(_) <- .learn(1).
            +!train(N) : evaluation(A, B) | complete <- .learn(1).
            +!train(N) : evaluation(A, B) <- .learn(1).
            """)

        self.assertIn("line 2 (small): it is for train(7).", error.message)
        self.assertIn(
            "line 5 (mistyped): `bach(B)` does not hold, because there is no belief bach"
            " (did you mean batch?).",
            error.message,
        )
        self.assertIn("line 8 (+!train/1): `not batch(_)` does not hold.", error.message)
        self.assertIn("`evaluation(A, B) | complete` does not hold.", error.message)
        self.assertIn("it has 2 arguments and the belief evaluation has 1.", error.message)

    def test_action_in_a_condition(self) -> None:
        """An action in a context is not run again for the error message."""
        error = self.error_of("+!train(N) : .learn(3) & N > 1000 <- .learn(5).")

        self.assertIn("line 1 (+!train/1): its context does not hold.", error.message)

    def test_no_plan_for_the_goal(self) -> None:
        """The remedy names the file."""
        error = self.error_of("+!run(N) <- .learn(N).")

        self.assertIn("`+!train`", error.remedy)
        self.assertIn("own.asl", error.remedy)

    def test_no_plan_for_a_subgoal(self) -> None:
        """The error has the line that adds the goal."""
        error = self.error_of("+!train(N)\n   <- .learn(5);\n      !celebrate(N).")

        self.assertIn("line 3", error.message)
        self.assertIn("!celebrate(40)", error.message)

    def test_a_test_fails(self) -> None:
        """A failed test goal has its line in the error, and a checkpoint is saved."""
        error = self.error_of("+!train(N)\n   <- .learn(5);\n      ?happy(X).")

        self.assertIn("line 3: the plan failed", error.message)
        self.assertEqual(self.learner.saved, ["the run failed"])

    def test_wrong_argument(self) -> None:
        """The error says what the action expects."""
        error = self.error_of('+!train(N) <- .learn("all").')

        self.assertIn(".learn needs an integer", error.message)

    def test_infinite_number(self) -> None:
        """Infinity is not a number of episodes."""
        error = self.error_of("+!train(N) <- .learn(1e999).")

        self.assertIn(".learn needs an integer, got inf", error.message)

    def test_variable_without_a_value(self) -> None:
        """An unbound variable is explained."""
        error = self.error_of("+!train(N)\n   <- .learn(M).")

        self.assertIn(
            "line 2: the plan failed: a variable in this line has no value", error.message
        )

    def test_action_of_agentspeak_with_a_wrong_argument(self) -> None:
        """AgentSpeak's own message is part of the error."""
        error = self.error_of('+!train(N)\n   <- .wait("soon").')

        self.assertIn("line 2: the plan failed: expected plan trigger", error.message)

    def test_context_that_cannot_be_evaluated(self) -> None:
        """The remedy names the plans that may have the context."""
        error = self.error_of("@sharing\n+!train(N) : 10 / (N - N) > 1 <- .learn(5).")

        self.assertIn("`+!train/1` cannot be evaluated: float division by zero", error.message)
        self.assertIn("sharing", error.remedy)

    def test_recursive_rule(self) -> None:
        """Endless recursion is an error, not a crash."""
        error = self.error_of("good(X) :- good(X).\n+!train(N) : good(N) <- .learn(5).")

        self.assertIn("endless recursion", error.message)

    def test_recursive_goal(self) -> None:
        """Endless subgoals stop before they fill the memory; the remedy shows `!!goal`."""
        error = self.error_of("@again\n+!train(N) <- !train(N).")

        self.assertIn("levels deep, the last by again", error.message)
        self.assertIn("!!goal", error.remedy)

    def test_multiplying_intentions(self) -> None:
        """Intentions that multiply are stopped before they fill the memory."""
        error = self.error_of("@twice\n+!train(N) <- !!train(N); !!train(N).")

        self.assertIn("intentions are active at once: twice", error.message)

    def test_busy_plans(self) -> None:
        """A warning is logged while they run, and a stop still ends them."""
        self.file.write_text("@endless\n+!train(N) <- !!train(N).")
        patch = mock.patch.object(deliberation, "_BUSY_WARNING_S", 0.2)
        patch.start()
        self.addCleanup(patch.stop)
        control, sink = Control(), StoppingSink()
        sink.control = control

        run_agents(self.learner, AgentSettings(asl=str(self.file)), sink, control)  # type: ignore[arg-type]

        self.assertIn("endless", dict(sink.messages)["W296"])
        self.assertIn("endless", sink.plans())

    def test_exception_in_an_action(self) -> None:
        """The error has the line of the action, and keeps the traceback."""
        self.learner.error = ZeroDivisionError("division by zero")

        error = self.error_of("+!train(N)\n   <- .learn(5).")

        self.assertIn(
            "line 2: an action failed: ZeroDivisionError: division by zero", error.message
        )
        self.assertIsInstance(error.__cause__, ZeroDivisionError)

    def test_worker_error_in_an_action(self) -> None:
        """A `WorkerError` is passed on unchanged."""
        self.learner.error = WorkerError("A message.", remedy="A remedy.")

        error = self.error_of("+!train(N)\n   <- .learn(5).")

        self.assertEqual((error.message, error.remedy), ("A message.", "A remedy."))

    def test_plans_without_done(self) -> None:
        """A single agent without intentions is done."""
        self.file.write_text("+!train(N) <- .learn(5).")

        sink = run_team(self.learner, asl=str(self.file))

        self.assertIn(
            ("W293", "info: learner is done: its plans have no more intentions"), sink.messages
        )

    def test_warnings_are_logged(self) -> None:
        """A plan that has no effect causes a warning."""
        self.file.write_text('+!train(N) <- .done("ok").\n-!train(N) <- .learn(5).')

        sink = run_team(self.learner, asl=str(self.file))

        self.assertIn("line 2", dict(sink.messages)["W295"])


if __name__ == "__main__":
    unittest.main()
