"""The policy of an actor for every state: its line, and when `policy()` is called."""

from __future__ import annotations

import json
import os
import unittest
from typing import Any

from mosaic_worker.emitter import Emitter
from mosaic_worker.errors import WorkerError
from mosaic_worker.line_encoder import MAX_LINE_BYTES
from mosaic_worker.play.actor import BorrowedActor, NamedActor
from mosaic_worker.play.policy_publisher import PolicyPublisher
from mosaic_worker.policy_table import make_policy_table


class Array:
    """The interface of numpy's arrays."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def tolist(self) -> list[Any]:
        return self._values


class PlanningActor:
    """Returns the policy that a test sets, and counts the calls."""

    def __init__(self, returned: Any) -> None:
        self.returned = returned
        self.calls = 0

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - the interface
        return 0

    def policy(self) -> Any:
        self.calls += 1
        if isinstance(self.returned, Exception):
            raise self.returned
        return self.returned


class ActorWithNetwork:
    """Has an attribute `policy` that is not a method."""

    def __init__(self) -> None:
        self.policy = print

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - the interface
        return 0


class PolicyTableTest(unittest.TestCase):
    def test_arrays_become_lists(self) -> None:
        """Values are rounded to visible precision."""
        table = make_policy_table(Array([1, None]), Array([[0.1234567891, 1], [2, -1e-9]]))
        self.assertEqual(table, ([1, None], [[0.123457, 1.0], [2.0, -1e-9]]))

    def test_invalid_tables_are_rejected(self) -> None:
        """Each mistake has a message."""
        for fields, message in (
            ({"actions": []}, "is empty"),
            ({"actions": ["left"]}, "must be an integer"),
            ({"actions": [0] * 10_001}, "10001 states"),
            ({"actions": [0], "q_values": [[1], [2]]}, "1 states"),
            ({"q_values": [[1, 2], [3]]}, "different lengths"),
            ({"q_values": [[0.0] * 65]}, "65 actions"),
        ):
            with self.subTest(message), self.assertRaises(WorkerError) as caught:
                make_policy_table(**fields)
            self.assertIn(message, caught.exception.message)

    def test_a_table_that_is_too_long_for_a_line(self) -> None:
        """With very many values, only the best action of each state is written."""
        table = make_policy_table(q_values=[[0.0, 1.0, 0.5] * 20] * 5000)
        self.assertEqual((table.actions, table.q_values), ([1] * 5000, None))

    def test_equal_tables_are_equal(self) -> None:
        """Tables with NaN compare equal, so that they are written once."""
        tables = [make_policy_table(q_values=[[float("nan"), 1.0]]) for _ in range(2)]
        self.assertEqual(*tables)

    def test_the_largest_table_fits_a_line(self) -> None:
        """With the longest numbers."""
        table = make_policy_table(q_values=[[-1.23456789e-100] * 64] * 1000)
        self.assertIsNotNone(table.q_values)
        self.assertLess(len(json.dumps(table._asdict())), MAX_LINE_BYTES)


class PolicyPublisherTest(unittest.TestCase):
    def setUp(self) -> None:
        self.fd = os.memfd_create("telemetry")
        self.addCleanup(os.close, self.fd)
        self.now = 100.0
        emitter = Emitter(fd=self.fd)
        self.addCleanup(emitter.writer.close)
        self.publisher = PolicyPublisher(emitter, lambda: self.now)

    def lines(self) -> list[dict[str, Any]]:
        data = os.pread(self.fd, os.fstat(self.fd).st_size, 0)
        return [json.loads(line) for line in data.splitlines()]

    def test_at_most_once_a_second_and_only_changes(self) -> None:
        """A learning actor is called again, and its policy written if it has changed."""
        actor = PlanningActor({"actions": [0]})
        named = NamedActor("it", BorrowedActor(actor))
        for _ in range(3):
            self.publisher.publish(named, 0)
        self.assertEqual(actor.calls, 1)
        self.now += 1
        self.publisher.publish(named, 5)
        self.now += 1
        actor.returned = {"actions": [1]}
        self.publisher.publish(named, 9)
        self.assertEqual(actor.calls, 3)
        self.assertEqual(
            self.lines(),
            [
                {"type": "policy", "actions": [0], "step": 0, "actor": "it"},
                {"type": "policy", "actions": [1], "step": 9, "actor": "it"},
            ],
        )

    def test_another_actor_is_called_immediately(self) -> None:
        """A human has no policy, which clears the previous one."""
        self.publisher.publish(NamedActor("it", PlanningActor({"actions": [0]})), 0)
        self.publisher.publish(NamedActor("human", None), 1)
        self.publisher.publish(NamedActor("human", None), 2)
        self.assertEqual(self.lines()[1:], [{"type": "policy", "step": 1, "actor": "human"}])

    def test_another_environment(self) -> None:
        """The policy is written again, even if it is equal."""
        named = NamedActor("it", PlanningActor({"actions": [0]}))
        self.publisher.publish(named, 0)
        self.publisher.start()
        self.publisher.publish(named, 1)
        self.assertEqual([line["step"] for line in self.lines()], [0, 1])

    def test_actors_without_a_policy(self) -> None:
        """A network named `policy` is not called, and None is not a policy."""
        self.publisher.publish(NamedActor("a", ActorWithNetwork()), 0)
        self.publisher.publish(NamedActor("b", PlanningActor(None)), 0)
        self.assertEqual(self.lines(), [])

    def test_a_failing_policy_method_is_not_called_again(self) -> None:
        """The session continues, and the log has the error."""
        for returned, message in (
            (WorkerError("the table is too large"), "the table is too large"),
            ({"actions": ["left"]}, "'actions'"),
            ({"moves": [0]}, "must return a mapping"),
            (7, "must return a mapping"),
        ):
            with self.subTest(message):
                actor = PlanningActor(returned)
                before = len(self.lines())
                for _ in range(3):
                    self.publisher.publish(NamedActor("it", actor), 0)
                    self.now += 2
                (line,) = self.lines()[before:]
                self.assertEqual((line["type"], line["code"]), ("log", "W280"))
                self.assertIn(message, line["message"])
                self.assertEqual(actor.calls, 1)


if __name__ == "__main__":
    unittest.main()
