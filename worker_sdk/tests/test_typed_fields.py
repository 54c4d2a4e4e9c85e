"""Typed fields are converted to what the store accepts, or rejected with their name."""

from __future__ import annotations

import json
import os
import unittest
from functools import partial
from typing import Any, Callable

from mosaic_worker.emitter import Emitter
from mosaic_worker.encoding import choose_encoder
from mosaic_worker.errors import WorkerError


class ArrayLike:
    """The interface of numpy's arrays."""

    def __init__(self, *values: Any) -> None:
        self._values = list(values)

    def tolist(self) -> list[Any]:
        return self._values


class TypedFieldsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.fd = os.memfd_create("telemetry")
        self.addCleanup(os.close, self.fd)
        self.emitter: Any = Emitter(fd=self.fd)
        self.addCleanup(self.emitter.writer.close)

    def lines(self) -> list[dict[str, Any]]:
        self.emitter.flush()
        data = os.pread(self.fd, os.fstat(self.fd).st_size, 0)
        return [json.loads(line) for line in data.splitlines()]

    def test_a_wrong_type_names_the_field(self) -> None:
        """A vector of rewards is rejected with the field's name and a remedy."""
        with self.assertRaisesRegex(
            WorkerError, "'reward' must be a single number.*one line per env"
        ):
            self.emitter.step("ep0", 0, 0, [1.0, 2.0], False, False)
        with self.assertRaisesRegex(WorkerError, "'terminated' must be True or False"):
            self.emitter.step("ep0", 0, 0, 1.0, "no", False)
        with self.assertRaisesRegex(WorkerError, "'step' must be an integer"):
            self.emitter.step("ep0", 0.5, 0, 1.0, False, False)
        with self.assertRaisesRegex(WorkerError, "'loss' must be a single number"):
            self.emitter.metric("loss", None)
        self.assertEqual(self.lines(), [])

    def test_integer_names_are_written_as_text(self) -> None:
        """Names of agents, actors and metrics."""
        self.emitter.step("ep0", 0, 0, 1.0, False, False, actor=3, agent_id=4, seq=True)
        self.emitter.metric(5, 1.0, agent_id=6)
        self.emitter.metrics({7: 1.0}, agent_id=8)
        self.emitter.emit("custom", agent_id=9)
        step, metric, metrics, custom = self.lines()
        self.assertEqual((step["actor"], step["agent_id"], step["seq"]), ("3", "4", 1))
        self.assertEqual((metric["name"], metric["agent_id"]), ("5", "6"))
        self.assertEqual((metrics["values"], metrics["agent_id"]), ({"7": 1.0}, "8"))
        self.assertEqual(custom["agent_id"], "9")

    def test_flags_of_an_episode_end_are_bools(self) -> None:
        """Many environments return 0 and 1; the protocol requires a bool."""
        self.emitter.episode("ep0", 3, 1.0, terminated=1, truncated=0, success=1)
        (line,) = self.lines()
        self.assertIs(line["terminated"], True)
        self.assertIs(line["truncated"], False)
        self.assertIs(line["success"], True)

    def test_an_integer_out_of_float_range_is_an_infinity(self) -> None:
        """With each encoder, a huge reward or metric is written as infinity."""
        for name in ("msgspec", "orjson", "json"):
            try:
                choose_encoder(name)
            except ImportError:
                continue
            with self.subTest(encoder=name):
                os.ftruncate(self.fd, 0)
                os.lseek(self.fd, 0, os.SEEK_SET)
                self.emitter = Emitter(fd=self.fd, encoder=name)
                self.addCleanup(self.emitter.writer.close)
                self.emitter.step("ep0", 0, 0, 10**400, False, False)
                self.emitter.step("ep0", 1, 0, 10**300, False, False)
                self.emitter.metric("loss", -(10**5000))
                self.emitter.steps("ep0", 2, [0], [10**400])
                huge, large, metric, steps = self.lines()
                self.assertEqual((huge["reward"], large["reward"]), ("Infinity", 10**300))
                self.assertEqual((metric["value"], steps["rewards"]), ("-Infinity", ["Infinity"]))

    def test_a_number_out_of_range_names_the_field(self) -> None:
        """Negative counts, fractional sequence numbers, more than 64 bits."""
        emitter = self.emitter
        with self.assertRaisesRegex(WorkerError, "'step' must be 0 or more, got -1"):
            emitter.step("ep0", -1, 0, 1.0, False, False)
        with self.assertRaisesRegex(WorkerError, "'seq' must be an integer, got float"):
            emitter.step("ep0", 0, 0, 1.0, False, False, seq=1.5)
        with self.assertRaisesRegex(WorkerError, "'seq' must fit into 64 bits"):
            emitter.step("ep0", 0, 0, 1.0, False, False, seq=10**5000)
        with self.assertRaisesRegex(WorkerError, "'steps' must be 0 or more"):
            emitter.episode("ep0", -1, 1.0)
        with self.assertRaisesRegex(WorkerError, "'first' must be 0 or more"):
            emitter.steps("ep0", -1, [0], [1.0])
        with self.assertRaisesRegex(WorkerError, "'episode' must be 0 or more"):
            emitter.episode_start(episode=-1)
        with self.assertRaisesRegex(WorkerError, "'env_index' must be 0 or more"):
            emitter.episode_start(env_index=-1)
        self.assertEqual(self.lines(), [])

    def test_an_episode_id_has_1_to_256_characters(self) -> None:
        """Any other is rejected for every line type."""
        longest = "x" * 256
        for wrong in ("", longest + "x"):
            calls: list[Callable[[], Any]] = [
                partial(self.emitter.step, wrong, 0, 0, 1.0, False, False),
                partial(self.emitter.steps, wrong, 0, [0], [1.0]),
                partial(self.emitter.episode, wrong, 1, 1.0),
                partial(self.emitter.episode_start, episode_id=wrong),
            ]
            for call in calls:
                with self.assertRaisesRegex(WorkerError, "'episode_id' must have 1 to 256"):
                    call()
        self.assertEqual(self.emitter.episode_start(episode_id=longest), longest)
        self.emitter.step(longest, 0, 0, 1.0, False, False)
        self.emitter.step(7, 0, 0, 1.0, False, False)
        start, first, second = self.lines()
        self.assertEqual((start["episode"], first["episode_id"]), (0, longest))
        self.assertEqual(second["episode_id"], "7")

    def test_columns_have_one_entry_per_step(self) -> None:
        """Empty or unequal columns and other types than lists are rejected; arrays work."""
        with self.assertRaisesRegex(WorkerError, "'actions' is empty"):
            self.emitter.steps("ep0", 0, [], [])
        with self.assertRaisesRegex(WorkerError, "'actions' has 2 entries and 'rewards' has 1"):
            self.emitter.steps("ep0", 0, [0, 1], [1.0])
        with self.assertRaisesRegex(WorkerError, "'rewards' must be a list, got float"):
            self.emitter.steps("ep0", 0, [0], 1.0)
        with self.assertRaisesRegex(WorkerError, "'rewards' must be a single number, got list"):
            self.emitter.steps("ep0", 0, [0], [[1.0]])
        self.emitter.steps("ep0", 0, ArrayLike(0, 1), ArrayLike(1, 0.5))
        (line,) = self.lines()
        self.assertEqual((line["actions"], line["rewards"]), ([0, 1], [1, 0.5]))


if __name__ == "__main__":
    unittest.main()
