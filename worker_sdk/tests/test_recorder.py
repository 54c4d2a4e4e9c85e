"""Lines that a recorder writes for the episodes of an environment, at each level of detail."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable

from mosaic_worker.emitter import Emitter
from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.recorder import EpisodeRecorder

NAN = float("nan")


class Corridor:
    """An environment that needs only the standard library: each step moves to the right."""

    action_space = None
    observation_space = None

    def __init__(self, length: int = 3) -> None:
        self.length = length
        self.position = 0
        self.rewards: list[Any] = []
        self.info: dict[str, Any] = {}

    @property
    def unwrapped(self) -> Corridor:
        return self

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed == "broken" or options == "broken":
            raise RuntimeError("no reset")
        self.position = 0
        return [self.position], {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if action == "broken":
            raise RuntimeError("no step")
        self.position += 1
        reward = self.rewards.pop(0) if self.rewards else 1.0
        return [self.position], reward, self.position >= self.length, False, self.info

    def close(self) -> str:
        return "closed"


class RecorderCase(unittest.TestCase):
    detail = "all"

    def setUp(self) -> None:
        self.fd = os.memfd_create("telemetry")
        self.addCleanup(os.close, self.fd)
        self.emitter = Emitter(fd=self.fd)
        self.addCleanup(self.emitter.writer.close)
        self.env: Any = Corridor()
        self.recorder = EpisodeRecorder(self.emitter, detail=self.detail)
        self.addCleanup(self.recorder.close)

    def attached(self, detail: str, length: int = 3) -> Any:
        self.recorder = EpisodeRecorder(self.emitter, detail=detail)
        self.addCleanup(self.recorder.close)
        return self.recorder.attach(Corridor(length))

    def raw(self) -> bytes:
        return os.pread(self.fd, os.fstat(self.fd).st_size, 0)

    def lines(self, *kinds: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.raw().splitlines()]
        return [line for line in lines if not kinds or line["type"] in kinds]

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.raw())
            time.sleep(0.005)


class DetailsTest(RecorderCase):
    def play(self, detail: str, episodes: int) -> list[dict[str, Any]]:
        env = self.attached(detail)
        for episode in range(episodes):
            env.reset(seed=episode)
            for action in range(3):
                env.step(action)
        self.recorder.close()
        return self.lines()[1:]

    def test_columns_put_a_short_episode_on_one_line(self) -> None:
        """Seed, actions and rewards are enough for a replay."""
        (first, second) = self.play("columns", 2)
        expected = {
            "type": "episode",
            "episode_id": "ep0",
            "episode": 0,
            "seed": 0,
            "steps": 3,
            "return": 3.0,
            "terminated": True,
            "truncated": False,
            "actions": [0, 1, 2],
            "rewards": [1.0, 1.0, 1.0],
        }
        self.assertEqual({k: v for k, v in first.items() if k != "t_end"}, expected)
        self.assertEqual((second["episode_id"], second["seed"]), ("ep1", 1))

    def test_all_writes_every_step_between_start_and_end(self) -> None:
        """The start has the first observation; each step has its result."""
        start, *steps, end = self.play("all", 1)
        self.assertEqual((start["type"], start["seed"], start["obs"]), ("episode_start", 0, [0]))
        self.assertEqual([step["type"] for step in steps], ["step"] * 3)
        self.assertEqual([step["step"] for step in steps], [0, 1, 2])
        self.assertEqual([step["action"] for step in steps], [0, 1, 2])
        self.assertEqual([step["obs"] for step in steps], [[1], [2], [3]])
        self.assertEqual([step["terminated"] for step in steps], [False, False, True])
        self.assertEqual((end["steps"], end["return"], end["terminated"]), (3, 3.0, True))
        self.assertNotIn("actions", end)

    def test_off_writes_starts_and_ends_only(self) -> None:
        """No steps, but the start and the result of each episode."""
        lines = self.play("off", 2)
        self.assertEqual([line["type"] for line in lines], ["episode", "episode"])
        self.assertEqual([(line["seed"], line["steps"]) for line in lines], [(0, 3), (1, 3)])
        self.assertNotIn("actions", lines[0])

    def test_sampled_writes_every_tenth_episode_in_full(self) -> None:
        """The others are columns."""
        lines = self.play("sampled", 21)
        in_full = {line["episode_id"] for line in lines if line["type"] == "step"}
        by_columns = [line for line in lines if line["type"] == "episode" and "actions" in line]
        self.assertEqual(in_full, {"ep0", "ep10", "ep20"})
        self.assertEqual(len(by_columns), 18)

    def test_an_unknown_detail_names_the_known_ones(self) -> None:
        """The error helps to correct a typo in the configuration."""
        with self.assertRaisesRegex(
            WorkerError, "Unknown step detail 'most'.*all, sampled, columns, off"
        ):
            EpisodeRecorder(self.emitter, detail="most")


class LongEpisodesTest(RecorderCase):
    def test_columns_of_a_long_episode_are_split_into_lines(self) -> None:
        """Start, chunks of at most 256 steps, and the rest with the end: every step once."""
        env = self.attached("columns", length=1000)
        env.reset(seed=7)
        for action in range(1000):
            env.step(action)
        self.recorder.close()
        start, *pieces, end = self.lines("episode_start", "steps", "episode")
        self.assertEqual((start["type"], start["seed"]), ("episode_start", 7))
        actions: list[int] = []
        for piece in [*pieces, end]:
            if "actions" in piece:
                self.assertEqual(piece.get("first", 0), len(actions))
                self.assertLessEqual(len(piece["actions"]), 256)
                actions += piece["actions"]
        self.assertEqual(actions, list(range(1000)))
        self.assertEqual((end["steps"], end["return"]), (1000, 1000.0))
        self.assertNotIn("seed", end)

    def test_a_stalled_loop_loses_no_step(self) -> None:
        """Steps are written soon, although nothing follows them, at every level."""
        for detail, kind in (("columns", "steps"), ("all", "step")):
            with self.subTest(detail=detail):
                os.ftruncate(self.fd, 0)
                os.lseek(self.fd, 0, os.SEEK_SET)
                env = self.attached(detail, length=1000)
                env.reset(seed=1)
                env.step(0)
                self.until(lambda kind=kind: len(self.lines(kind)) == 1)  # type: ignore[misc]

    def test_a_stalled_loop_after_an_episode(self) -> None:
        """The end of the episode is written."""
        env = self.attached("all", length=2)
        self.recorder._flusher.stop()  # it would write the end, but later
        env.reset()
        env.step(0)
        self.until(lambda: len(self.lines("step")) == 1)
        env.reset()  # ends the first episode before its last step
        self.until(lambda: len(self.lines("episode")) == 1)
        env.unwrapped.info = {"odd": object()}  # such a step is written immediately
        env.step(0)
        env.step(0)
        self.until(lambda: len(self.lines("episode")) == 2)

    def test_an_unfinished_episode_is_written_without_an_end(self) -> None:
        """Closing the environment does not write an end."""
        env = self.attached("columns", length=1000)
        env.reset(seed=1)
        env.step(5)
        self.assertEqual(env.close(), "closed")
        self.assertEqual(self.lines("steps")[0]["actions"], [5])
        self.assertEqual(self.lines("episode"), [])


class ResetsTest(RecorderCase):
    def test_an_early_reset_ends_the_episode_without_flags(self) -> None:
        """The episode was neither terminated nor truncated by the environment."""
        env = self.attached("columns")
        env.reset(seed=1)
        env.step(0)
        env.reset(seed=2)
        self.recorder.close()
        (end,) = self.lines("episode")
        self.assertEqual((end["steps"], end["terminated"], end["truncated"]), (1, False, False))

    def test_a_reset_without_steps_is_not_an_episode(self) -> None:
        """Many programs reset twice; the numbers have no gap."""
        for detail in ("columns", "all"):
            with self.subTest(detail=detail):
                os.ftruncate(self.fd, 0)
                os.lseek(self.fd, 0, os.SEEK_SET)
                self.emitter = Emitter(fd=self.fd)
                self.addCleanup(self.emitter.writer.close)
                env = self.attached(detail, length=1)
                for seed in (1, 2):
                    env.reset()
                    env.reset(seed=seed)
                    env.step(0)
                env.reset()
                self.recorder.close()
                seeded = [line for line in self.lines() if "seed" in line]
                numbers = [(line["episode"], line["seed"]) for line in seeded]
                self.assertEqual(numbers, [(0, 1), (1, 2)])
                self.assertEqual(len(self.lines("episode")), 2)

    def test_exceptions_of_the_environment_pass_through(self) -> None:
        """A failing reset or step raises the same exception, and is not recorded."""
        env = self.attached("columns")
        with self.assertRaisesRegex(RuntimeError, "no reset"):
            env.reset(seed="broken")
        env.reset(seed=1)
        env.step(0)
        with self.assertRaisesRegex(RuntimeError, "no step"):
            env.step("broken")
        env.step(1)
        env.step(2)
        self.recorder.close()
        (end,) = self.lines("episode")
        self.assertEqual(end["actions"], [0, 1, 2])

    def test_steps_after_the_end_are_not_recorded(self) -> None:
        """Stepping without a reset has no effect on later episodes."""
        env = self.attached("columns", length=1)
        env.reset(seed=1)
        for action in range(4):
            env.step(action)
        self.recorder.close()
        self.assertEqual([line["actions"] for line in self.lines("episode")], [[0]])

    def test_an_environment_without_an_id_is_marked(self) -> None:
        """Its episodes are recorded, but cannot be replayed."""
        env = self.attached("columns", length=1)
        env.reset()
        env.step(0)
        self.recorder.close()
        (line,) = self.lines("environment")
        self.assertIn("id that another process could use", line["not_replayable"])
        self.assertEqual(len(self.lines("episode")), 1)

    def test_reset_options_are_recorded(self) -> None:
        """A replay needs them."""
        env = self.attached("columns", length=1)
        env.reset(seed=1, options={"low": -0.1, "high": 0.1})
        env.step(0)
        self.recorder.close()
        self.assertEqual(self.lines("episode")[0]["options"], {"low": -0.1, "high": 0.1})


class ValuesTest(RecorderCase):
    def test_non_finite_rewards(self) -> None:
        """NaN and infinities are written as in the protocol, in both forms."""
        for detail in ("columns", "all"):
            with self.subTest(detail=detail):
                os.ftruncate(self.fd, 0)
                os.lseek(self.fd, 0, os.SEEK_SET)
                env = self.attached(detail)
                env.rewards = [NAN, float("inf"), 10**400]
                env.reset(seed=1)
                for action in range(3):
                    env.step(action)
                self.recorder.close()
                (end,) = self.lines("episode")
                rewards = end.get("rewards") or [line["reward"] for line in self.lines("step")]
                self.assertEqual(rewards, ["NaN", "Infinity", "Infinity"])
                self.assertEqual(end["return"], "NaN")

    def test_a_reused_info_is_recorded_with_its_value_at_each_step(self) -> None:
        """Environments reuse their lists and dicts."""
        env = self.attached("all")
        shared: dict[str, Any] = {"n": 0, "list": [0]}
        env.info = shared
        env.reset(seed=1)
        for n in range(3):
            shared["n"] = n
            shared["list"][0] = n
            env.step(0)
        self.recorder.close()
        infos = [line["info"] for line in self.lines("step")]
        self.assertEqual(infos, [{"n": n, "list": [n]} for n in range(3)])

    def test_unsupported_values_become_their_repr(self) -> None:
        """An unusual info does not lose its step, and the log has a message."""
        env = self.attached("all")
        env.info = {"odd": object()}
        env.reset(seed=1)
        env.step(0)
        self.recorder.close()
        self.assertIn("object object at", self.lines("step")[0]["info"]["odd"])
        self.assertEqual([line["code"] for line in self.lines("log")], ["W101"])


class OrderTest(RecorderCase):
    def test_other_lines_keep_their_order(self) -> None:
        """A line emitted after a step is written after it."""
        for detail, kind in (("all", "step"), ("columns", "episode")):
            with self.subTest(detail=detail):
                os.ftruncate(self.fd, 0)
                os.lseek(self.fd, 0, os.SEEK_SET)
                env = self.attached(detail, length=1)
                for n in range(20):
                    env.reset(seed=n)
                    env.step(n)
                    self.emitter.emit("mark", n=n)
                self.recorder.close()
                order = [line["type"] for line in self.lines(kind, "mark")]
                self.assertEqual(order, [kind, "mark"] * 20)

    def test_two_recorders_share_the_ordinals(self) -> None:
        """Episodes of two environments are numbered in order of their start."""
        first, second = self.attached("columns", 2), self.attached("all", 2)
        first.reset(seed=10)
        second.reset(seed=20)
        for env in (second, first, second, first):
            env.step(0)
        first.close()
        second.close()
        starts = {line["seed"]: line["episode"] for line in self.lines() if "seed" in line}
        self.assertEqual(starts, {10: 0, 20: 1})


class StepListenersTest(RecorderCase):
    def test_a_listener_gets_the_fields_of_each_step(self) -> None:
        """An annotation is included once."""
        for detail in ("all", "columns"):
            with self.subTest(detail=detail):
                env = self.attached(detail)
                seen: list[dict[str, Any]] = []
                starts: list[dict[str, Any]] = []
                self.recorder.listener = seen.append
                self.recorder.on_episode = starts.append
                env.reset(seed=3)
                self.recorder.annotate(actor="human", seq=9)
                env.step(1)
                env.step(0)
                self.assertEqual((starts[0]["seed"], starts[0]["obs"]), (3, [0]))
                self.assertEqual([step["step"] for step in seen], [0, 1])
                self.assertEqual((seen[0]["actor"], seen[0]["seq"]), ("human", 9))
                self.assertEqual((seen[0]["obs"], seen[0]["reward"]), ([1], 1.0))
                self.assertNotIn("actor", seen[1])
                self.assertEqual(seen[0]["episode_id"], starts[0]["episode_id"])

    def test_an_annotated_step_is_written_immediately(self) -> None:
        """A human player sees the step without delay."""
        env = self.attached("all")
        env.reset(seed=3)
        self.recorder.annotate(actor="human", seq=9, llm={"prompt": "go"})
        env.step(1)
        (step,) = self.lines("step")
        self.assertEqual((step["actor"], step["seq"], step["llm"]), ("human", 9, {"prompt": "go"}))

    def test_an_unknown_annotation_is_rejected(self) -> None:
        """Otherwise a typo would be ignored."""
        with self.assertRaisesRegex(TypeError, "'actr' is not an annotation"):
            self.recorder.annotate(actr="human")


class CopiesTest(RecorderCase):
    def test_a_copy_of_the_environment_is_independent(self) -> None:
        """A deep or pickled copy is not recorded and does not step the original."""
        env = self.attached("columns")
        env.reset(seed=1)
        for duplicate in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):  # noqa: S301
            duplicate.step(0)
            duplicate.step(0)
            self.assertEqual((duplicate.position, env.position), (2, 0))
        env.step(5)
        env.close()
        self.assertEqual(self.lines("steps")[0]["actions"], [5])

    def test_close_removes_the_instrumentation(self) -> None:
        """The environment has its own methods again."""
        env = self.attached("columns")
        self.recorder.close()
        self.assertEqual({"step", "reset", "close"} & set(vars(env)), set())

    def test_a_forked_child_does_not_record_its_parents_environments(self) -> None:
        """Two processes never write the same episode."""
        env = self.attached("columns")
        env.reset(seed=1)
        env.step(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # 3.12 warns about forking with threads
            child = os.fork()
        if child == 0:
            signal.alarm(30)
            env.step(1)
            env.step(1)
            self.emitter.emit("child")
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        env.step(2)
        env.step(3)
        self.recorder.close()
        lines = self.lines("steps", "episode")
        actions = [action for line in lines for action in line.get("actions", ())]
        self.assertEqual(actions, [0, 2, 3])


KILLED = """
import os, sys
sys.path.insert(0, {folder!r})
from test_recorder import Corridor
from mosaic_worker.emitter import Emitter
from mosaic_worker.recording.recorder import EpisodeRecorder
env = EpisodeRecorder(Emitter(), detail="columns").attach(Corridor(10**9))
env.reset(seed=1)
for action in range(3000):
    env.step(action)
os.kill(os.getpid(), 9)
"""


class KilledTest(unittest.TestCase):
    def test_a_kill_loses_at_most_256_steps(self) -> None:
        """Of an episode recorded as columns, at most one line is lost."""
        with tempfile.TemporaryDirectory() as folder:
            spool = Path(folder) / "telemetry.jsonl"
            with spool.open("ab") as stdout:
                program = KILLED.format(folder=str(Path(__file__).parent))
                result = subprocess.run([sys.executable, "-c", program], stdout=stdout, check=False)
            self.assertEqual(result.returncode, -signal.SIGKILL)
            lines = [json.loads(line) for line in spool.read_bytes().splitlines()]
        written = [action for line in lines for action in line.get("actions", ())]
        self.assertEqual(written, list(range(len(written))))
        self.assertGreaterEqual(len(written), 3000 - 256)


if __name__ == "__main__":
    unittest.main()
