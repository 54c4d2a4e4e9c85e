"""Lines that an emitter writes, and their order."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import threading
import time
import unittest
import warnings
from typing import Any

from mosaic_worker.emitter import Emitter
from mosaic_worker.line_encoder import MAX_LINE_BYTES
from mosaic_worker.run_control import RunControl


class EmitterTest(unittest.TestCase):
    def setUp(self) -> None:
        self.fd = os.memfd_create("telemetry")
        # Like the run's file; otherwise parent and child may overwrite each other.
        fcntl.fcntl(self.fd, fcntl.F_SETFL, os.O_APPEND)
        self.addCleanup(os.close, self.fd)
        self.emitter = Emitter(fd=self.fd)
        self.addCleanup(self.emitter.writer.close)

    def raw(self) -> bytes:
        return os.pread(self.fd, os.fstat(self.fd).st_size, 0)

    def lines(self) -> list[dict[str, Any]]:
        self.emitter.flush()
        return [json.loads(line) for line in self.raw().splitlines()]

    def test_one_method_per_type(self) -> None:
        """Every line type of the protocol has a method that writes it."""
        emitter = self.emitter
        emitter.hello("w", "1.0", run_id="r", capabilities={"pause": True})
        emitter.config("r", "ppo", "CartPole-v1", 1, {"lr": 0.1}, env_kwargs={})
        episode = emitter.episode_start(seed=3)
        emitter.step(episode, 0, 1, 1.0, False, False)
        emitter.steps(episode, 1, [0, 1], [1.0, 1.0])
        emitter.episode(episode, 3, 3.0, terminated=True)
        emitter.policy([0, None], [[1, 0.5], [0, 0]], step=3, actor="me")
        emitter.metric("loss", 0.5, 3)
        emitter.metrics({"a": 1.0, "b": 2.0}, step=3)
        emitter.artifact("video", "videos/a.mp4", meta={"episode": 0})
        emitter.heartbeat(global_step=3)
        emitter.progress(3, 10)
        emitter.log("info", "W000", "a message", value=1)
        emitter.status("running")
        emitter.emit("custom", present=3, absent=None)
        emitter.bye("failed", "an error", "a remedy")
        kinds = [line["type"] for line in self.lines()]
        self.assertEqual(
            kinds,
            [
                "hello",
                "config",
                "episode_start",
                "step",
                "steps",
                "episode",
                "policy",
                "metric",
                "metric",
                "artifact",
                "heartbeat",
                "progress",
                "log",
                "status",
                "custom",
                "bye",
            ],
        )
        self.assertEqual(self.lines()[5]["return"], 3.0)
        self.assertEqual(self.lines()[14], {"type": "custom", "present": 3})
        self.assertEqual(
            self.lines()[15],
            {"type": "bye", "outcome": "failed", "error": "an error", "remedy": "a remedy"},
        )

    def test_episodes_are_numbered_in_order_of_starting(self) -> None:
        """Automatic numbers continue after a number that was passed."""
        ids = [self.emitter.episode_start(seed=1), self.emitter.episode_start(episode=7)]
        ids += [self.emitter.episode_start(episode_id="mine"), self.emitter.episode_start()]
        self.assertEqual(ids, ["ep0", "ep7", "mine", "ep9"])
        self.assertEqual([line["episode"] for line in self.lines()], [0, 7, 8, 9])

    def test_threads_write_complete_lines(self) -> None:
        """Every line of every thread is complete, written once, and in order per thread."""
        count, threads = 400, 6

        def work(name: str) -> None:
            for step in range(count):
                self.emitter.step(name, step, 0, 1.0, False, False, "x" * (step % 7 * 900))
                if step % 3 == 0:
                    self.emitter.metric(name, 1.0, step)

        started = [threading.Thread(target=work, args=(f"ep{i}",)) for i in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        steps = [line for line in self.lines() if line["type"] == "step"]
        for index in range(threads):
            numbers = [line["step"] for line in steps if line["episode_id"] == f"ep{index}"]
            self.assertEqual(numbers, list(range(count)))
        self.assertEqual(len(self.lines()) - len(steps), threads * len(range(0, count, 3)))

    def test_other_lines_keep_their_order_among_steps(self) -> None:
        """A line that is written immediately does not overtake buffered steps."""
        for n in range(50):
            self.emitter.step("ep0", n, 0, 0.0, False, False)
            self.emitter.emit("mark", n=n)
        order = [line.get("step", line.get("n")) for line in self.lines()]
        self.assertEqual(order, [n for n in range(50) for _ in range(2)])

    def test_a_stalled_loop_writes_its_buffered_steps(self) -> None:
        """Buffered steps are written although nothing is emitted after them."""
        for n in range(13):
            self.emitter.step("ep0", n, 0, 0.0, False, False)
        deadline = time.monotonic() + 30
        while self.raw().count(b"\n") < 13 and time.monotonic() < deadline:
            time.sleep(0.002)
        self.assertEqual(
            [json.loads(line)["step"] for line in self.raw().splitlines()], list(range(13))
        )

    def test_unbuffered_on_request(self) -> None:
        """With burst=1 each step is in the file when the call returns."""
        emitter = Emitter(fd=self.fd, burst=1)
        self.addCleanup(emitter.writer.close)
        for n in range(20):
            emitter.step("ep0", n, 0, 0.0, False, False)
            self.assertEqual(self.raw().count(b"\n"), n + 1)

    def test_a_forked_child_does_not_repeat_its_parents_steps(self) -> None:
        """Only the parent writes its buffered steps."""
        for n in range(6):
            self.emitter.step("ep0", n, 0, 0.0, False, False)
        child = self.fork()
        if child == 0:
            self.emitter.emit("child")
            os._exit(0)
        os.waitpid(child, 0)
        kinds = sorted(line["type"] for line in self.lines())
        self.assertEqual(kinds, ["child"] + ["step"] * 6)

    def test_every_line_of_a_forked_child_is_written(self) -> None:
        """A child that exits without flushing writes each step once."""
        for n in range(6):
            self.emitter.step("parent", n, 0, 0.0, False, False)
        child = self.fork()
        if child == 0:
            for n in range(5):
                self.emitter.step("child", n, 0, 0.0, False, False)
            os._exit(0)
        os.waitpid(child, 0)
        steps = sorted((line["episode_id"], line["step"]) for line in self.lines())
        expected = [("child", n) for n in range(5)] + [("parent", n) for n in range(6)]
        self.assertEqual(steps, expected)

    def test_a_child_forked_while_locks_are_held_does_not_deadlock(self) -> None:
        """A lock held by another thread of the parent does not block the child."""
        control = RunControl()
        emitter = Emitter(fd=self.fd, run_control=control)
        self.addCleanup(emitter.writer.close)
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with control._condition, emitter._lines._throttle._lock, emitter.writer.lock:
                held.set()
                done.wait()

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        child = self.fork()
        if child == 0:
            signal.alarm(30)  # ends a deadlocked child
            emitter.step("child", 0, 0, 0.0, False, False, object())
            control.stop("requested by the test")
            os._exit(0)
        done.set()
        holder.join()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual([line["type"] for line in self.lines()], ["step", "log"])

    def fork(self) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # 3.12 warns about forking with threads
            return os.fork()

    def test_an_oversize_step_drops_optional_fields(self) -> None:
        """The step stays below 1 MiB: render is dropped first, then obs, info, llm, bdi."""
        big = "x" * MAX_LINE_BYTES
        self.emitter.step("ep0", 0, 0, 1.0, False, False, "obs", "info", render=big)
        self.emitter.step("ep0", 1, 0, 1.0, False, False, big, "info", render="small")
        self.emitter.step("ep0", 2, 0, 1.0, False, False, "obs", big, render="small")
        self.emitter.step("ep0", 3, 0, 1.0, False, False, "obs", "info", llm=big, bdi="small")
        self.emitter.step("ep0", 4, 0, 1.0, False, False, "obs", "info", llm="small", bdi=big)
        self.emitter.step("ep0", 5, big, 1.0, False, False)
        self.emitter.bye("succeeded")
        steps = [line for line in self.lines() if line["type"] == "step"]
        optional = ("render", "obs", "info", "llm", "bdi")
        present = [{name for name in optional if name in step} for step in steps]
        self.assertEqual(present, [{"obs", "info"}, {"info"}, set(), {"bdi"}, set()])
        logs = [line for line in self.lines() if line["type"] == "log"]
        self.assertEqual([log["code"] for log in logs], ["W102", "W102"])
        self.assertEqual([log["fields"]["count"] for log in logs], [1, 6])
        self.assertLess(max(len(line) for line in self.raw().splitlines()), MAX_LINE_BYTES)

    def test_nothing_follows_bye(self) -> None:
        """It is the last line."""
        self.emitter.bye("succeeded")
        self.emitter.metric("late", 1.0)
        self.assertFalse(self.emitter.bye("failed"))
        self.assertEqual([line["type"] for line in self.lines()], ["bye"])


if __name__ == "__main__":
    unittest.main()
