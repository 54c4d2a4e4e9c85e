"""msgspec, orjson and the standard library write the same lines."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import enum
import json
import os
import tempfile
import unittest
import uuid
from pathlib import Path
from typing import Any, Iterator, NamedTuple

from mosaic_worker.emitter import Emitter
from mosaic_worker.encoding import choose_encoder

NAN, INFINITY = float("nan"), float("inf")


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Pair(NamedTuple):
    left: int
    right: float


class ArrayLike:
    """The interface of numpy's scalars and arrays."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def tolist(self) -> Any:
        return self._value


class FloatLike(float):
    """numpy.float64 is a float, but encoders treat it differently."""

    def tolist(self) -> float:
        return float(self)


VALUES: dict[str, tuple[Any, Any]] = {
    "nan": (NAN, "NaN"),
    "infinity": (INFINITY, "Infinity"),
    "minus infinity": (-INFINITY, "-Infinity"),
    "nested": ({"a": [1.5, {"b": (NAN, None)}]}, {"a": [1.5, {"b": ["NaN", None]}]}),
    "none stays null": ([None, "null"], [None, "null"]),
    "the word NaN": (["NaN", "Infinity"], ["NaN", "Infinity"]),
    "scalar": (ArrayLike(3), 3),
    "array": (ArrayLike([[1, 2.5], [3, NAN]]), [[1, 2.5], [3, "NaN"]]),
    "array of integers": (ArrayLike([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    "float subclass": ([FloatLike(0.25), FloatLike("nan")], [0.25, "NaN"]),
    "integers past 64 bits": ([2**64, -(2**70), 2**128 + 1], [2**64, -(2**70), 2**128 + 1]),
    "keys": (
        {True: "b", None: "c", (1, 2): "d"},
        {"true": "b", "null": "c", "(1, 2)": "d"},
    ),
    "number keys": ({1: "a", 2.5: "b"}, {"1": "a", "2.5": "b"}),
    "enums": ([Colour.RED, Level.HIGH], ["red", 3]),
    "enum key": ({Colour.RED: 1}, {"red": 1}),
    "named tuple": (Pair(1, 2.5), [1, 2.5]),
    "set": ({7}, [7]),
    "bytes": (b"\x00\xff", "AP8="),
    "path": (Path("a/b"), "a/b"),
    "time": (
        dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc),
        "2020-01-02T03:04:05Z",
    ),
    "uuid": (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    "decimal": (decimal.Decimal("1.50"), "1.50"),
    "text": ("é\u2028\x00\n\udcff", "é\u2028\x00\n?"),
    "floats": ([1e22, 1e-7, -0.0, 5.0], [1e22, 1e-7, -0.0, 5.0]),
}


@contextlib.contextmanager
def emitted(encoder: str) -> Iterator[tuple[Emitter, Any]]:
    """Yield an emitter that writes to a file, and a function that returns its lines."""
    with tempfile.TemporaryFile() as file:
        emitter = Emitter(fd=file.fileno(), encoder=encoder)

        def lines() -> list[dict[str, Any]]:
            emitter.flush()
            size = os.fstat(file.fileno()).st_size
            return [json.loads(line) for line in os.pread(file.fileno(), size, 0).splitlines()]

        try:
            yield emitter, lines
        finally:
            emitter.writer.close()


class EncoderCases(unittest.TestCase):
    """Tests for every encoder; subclasses select one."""

    encoder = ""

    @classmethod
    def setUpClass(cls) -> None:
        try:
            choose_encoder(cls.encoder)
        except ImportError:
            raise unittest.SkipTest(f"{cls.encoder} is not installed here") from None

    def test_all_encoders_give_the_same_values(self) -> None:
        """NaN, arrays, big integers and unusual types give the same JSON."""
        for name, (value, expected) in VALUES.items():
            with self.subTest(value=name), emitted(self.encoder) as (emitter, lines):
                emitter.step("ep0", 0, 0, 0.0, False, False, value, {"deep": [value]})
                (line,) = lines()
                self.assertEqual(line["obs"], expected)
                self.assertEqual(line["info"], {"deep": [expected]})

    def test_all_encoders_give_the_same_typed_fields(self) -> None:
        """A reward of NaN and an action of None, as in the protocol."""
        with emitted(self.encoder) as (emitter, lines):
            emitter.step("ep0", 1, None, NAN, True, False, t=5.5)
            emitter.metric("loss", INFINITY, 7, t=6.5)
            emitter.metrics({"a": NAN, "b": 2}, step=8, t=7.5)
            self.assertEqual(
                lines(),
                [
                    {
                        "type": "step",
                        "episode_id": "ep0",
                        "step": 1,
                        "action": None,
                        "reward": "NaN",
                        "terminated": True,
                        "truncated": False,
                        "t": 5.5,
                    },
                    {
                        "type": "metric",
                        "name": "loss",
                        "value": "Infinity",
                        "step": 7,
                        "t": 6.5,
                    },
                    {"type": "metric", "values": {"a": "NaN", "b": 2}, "step": 8, "t": 7.5},
                ],
            )

    def test_unsupported_values_become_their_repr_with_one_warning(self) -> None:
        """An unusual info dict does not end training; the log has one message with a count."""
        endless: dict[str, Any] = {}
        endless["self"] = endless
        with emitted(self.encoder) as (emitter, lines):
            for step in range(5):
                emitter.step("ep0", step, 0, 0.0, False, False, info={"odd": object()})
            emitter.step("ep0", 5, 0, 0.0, False, False, info=endless)
            emitter.bye("succeeded")
            written = lines()
            steps = [line for line in written if line["type"] == "step"]
            logs = [line for line in written if line["type"] == "log"]
            self.assertEqual([step["step"] for step in steps], [0, 1, 2, 3, 4, 5])
            self.assertIn("object object at", steps[0]["info"]["odd"])
            self.assertEqual([log["code"] for log in logs], ["W101", "W101"])
            self.assertEqual([log["fields"]["count"] for log in logs], [1, 6])

    def test_a_repr_that_raises_does_not_lose_the_step(self) -> None:
        """The class name is written instead."""

        class Hostile:
            def __repr__(self) -> str:
                raise OSError("no")

            def tolist(self) -> list[int]:
                raise ArithmeticError("no")

        with emitted(self.encoder) as (emitter, lines):
            emitter.step("ep0", 0, 0, 0.0, False, False, Hostile())
            self.assertIn("Hostile", lines()[0]["obs"])


class MsgspecTest(EncoderCases):
    encoder = "msgspec"


class OrjsonTest(EncoderCases):
    encoder = "orjson"


class JsonTest(EncoderCases):
    encoder = "json"


del EncoderCases  # only its subclasses are tests


if __name__ == "__main__":
    unittest.main()
