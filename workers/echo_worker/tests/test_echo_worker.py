"""Every parameter of the echo worker has the effect that its help describes."""

from __future__ import annotations

import json
import os
import signal
import struct
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from mosaic_worker.testing import WorkerProcess


class EchoTest(unittest.TestCase):
    def start(self, **params: Any) -> WorkerProcess:
        return self.start_with({}, **params)

    def start_with(self, config: dict[str, Any], **params: Any) -> WorkerProcess:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name)
        (path / "config.json").write_text(json.dumps({"seed": 3, **config, "params": params}))
        worker = WorkerProcess(["-m", "echo_worker", "--config", "config.json"], path)
        self.addCleanup(worker.__exit__, None, None, None)
        return worker

    def numbers(self, worker: WorkerProcess) -> list[int]:
        return [step["info"]["n"] for step in worker.events("step")]

    def split_lines(self, worker: WorkerProcess) -> tuple[list[dict[str, Any]], list[bytes]]:
        """Return the events, and all lines that are not events."""
        decoded = [(line, self.decoded(line)) for line in worker.lines()]
        return [e for _, e in decoded if e], [line for line, e in decoded if not e]

    def decoded(self, line: bytes) -> dict[str, Any]:
        try:
            event = json.loads(line.decode("utf-8"))
        except ValueError:
            return {}
        return event if isinstance(event, dict) else {}

    def test_steps_and_episode_length(self) -> None:
        """The given number of steps, numbered in order; the last episode may be shorter."""
        worker = self.start(steps=25, episode_length=10)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.numbers(worker), list(range(1, 26)))
        self.assertEqual([e["steps"] for e in worker.events("episode")], [10, 10, 5])
        self.assertEqual([e["episode"] for e in worker.events("episode_start")], [0, 1, 2])
        self.assertEqual(worker.events("progress")[-1]["done"], 25)
        self.assertTrue(worker.events("metric"))
        rewards = [step["reward"] for step in worker.events("step")]
        self.assertAlmostEqual(sum(rewards[:10]), worker.events("episode")[0]["return"])

    def test_limits_of_the_run(self) -> None:
        """total_timesteps takes precedence over steps, and max_episodes may end the run earlier."""
        worker = self.start_with({"total_timesteps": 7}, steps=100)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(len(self.numbers(worker)), 7)
        worker = self.start_with({"max_episodes": 2}, steps=100, episode_length=10)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(len(self.numbers(worker)), 20)

    def test_a_seed_determines_the_rewards(self) -> None:
        """Equal seeds give equal rewards."""
        rewards = []
        for seed in (1, 1, 2):
            worker = self.start_with({"seed": seed}, steps=30)
            self.assertEqual(worker.wait(), 0)
            rewards.append([step["reward"] for step in worker.events("step")])
        self.assertEqual(rewards[0], rewards[1])
        self.assertNotEqual(rewards[0], rewards[2])

    def test_frames_are_written_on_request(self) -> None:
        """Otherwise there is no file."""
        worker = self.start(steps=30)
        self.assertEqual(worker.wait(), 0)
        self.assertFalse((worker.folder / "frames").exists())
        worker = self.start_with({"telemetry": {"frames": True}}, steps=30, rate=1000)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(len(self.numbers(worker)), 30)
        frames = (worker.folder / "frames").read_bytes()
        self.assertEqual(struct.unpack_from("<8s4I", frames), (b"MOSAICFR", 1, 192, 108, 3))
        self.assertIn(b'"type":"step"', frames)

    def test_rate_limits_the_speed(self) -> None:
        """A run with a rate takes at least its number of steps divided by the rate."""
        started = time.monotonic()
        worker = self.start(steps=100, rate=400)
        self.assertEqual(worker.wait(), 0)
        self.assertGreaterEqual(time.monotonic() - started, 99 / 400)
        self.assertEqual(self.numbers(worker), list(range(1, 101)))

    def test_line_bytes(self) -> None:
        """Every step line has exactly that size, including the newline."""
        for size in (300, 70_000):
            with self.subTest(size=size):
                worker = self.start(steps=12, line_bytes=size)
                self.assertEqual(worker.wait(), 0)
                sizes = {len(line) + 1 for line in worker.lines() if b'"step","ep' in line}
                self.assertEqual(sizes, {size})
                self.assertEqual(self.numbers(worker), list(range(1, 13)))

    def test_garbage_every(self) -> None:
        """Invalid lines are added between steps; all steps are written."""
        worker = self.start(steps=20, garbage_every=2)
        self.assertEqual(worker.wait(), 0)
        events, rest = self.split_lines(worker)
        self.assertEqual(len(rest), 10)
        self.assertGreater(len(set(rest)), 2)
        numbers = [event["info"]["n"] for event in events if event["type"] == "step"]
        self.assertEqual(numbers, list(range(1, 21)))

    def test_huge_line_at(self) -> None:
        """One additional line of over 1 MiB after that step."""
        worker = self.start(steps=5, huge_line_at=3)
        self.assertEqual(worker.wait(), 0)
        lines = worker.lines()
        (huge,) = [index for index, line in enumerate(lines) if len(line) > 1 << 20]
        before = [json.loads(line) for line in lines[:huge]]
        self.assertEqual([e["info"]["n"] for e in before if e["type"] == "step"], [1, 2, 3])
        self.assertEqual(self.numbers(worker), [1, 2, 3, 4, 5])

    def test_crash_at(self) -> None:
        """SIGSEGV ends the worker after all earlier steps were written, without a last line."""
        worker = self.start(steps=1000, crash_at=321)
        self.assertEqual(worker.wait(), -signal.SIGSEGV)
        self.assertEqual(self.numbers(worker), list(range(1, 322)))
        self.assertEqual(worker.events("bye"), [])

    def test_hang_at(self) -> None:
        """No output after that step, but SIGTERM still ends it."""
        worker = self.start(steps=100, hang_at=10)
        worker.until(lambda: len(self.numbers(worker)) == 10, "ten steps")
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(len(self.numbers(worker)), 10)
        self.assertEqual(worker.events("bye")[0]["outcome"], "cancelled")

    def test_ignore_term(self) -> None:
        """Neither stop nor SIGTERM end it; only SIGKILL does."""
        worker = self.start(steps=1_000_000, rate=200, ignore_term=True)
        worker.wait_for("step")
        worker.send("stop", seq=1)
        worker.signal(signal.SIGTERM)
        worker.signal(signal.SIGTERM)
        worker.send("unknown", seq=2)
        worker.wait_for("log", code="W110")  # the stop before it has been read
        seen = len(self.numbers(worker))
        worker.until(lambda: len(self.numbers(worker)) > seen + 20, "more steps")
        self.assertEqual([e["state"] for e in worker.events("status")], ["running"])
        worker.signal(signal.SIGKILL)
        self.assertEqual(worker.wait(), -signal.SIGKILL)

    def test_fork(self) -> None:
        """Sleeping children and orphans remain, without the control channel."""
        worker = self.start(steps=1, fork=4)
        pids = worker.wait_for("log", code="W201")["fields"]["pids"]
        try:
            self.assertEqual(worker.wait(), 0)
            self.assertEqual(len(set(pids)), 4)
            own_session = [os.getsid(pid) == os.getsid(0) for pid in pids]
            self.assertEqual(own_session, [True, False, True, False])
            for pid in pids:
                self.assertEqual(os.readlink(f"/proc/{pid}/fd/0"), os.devnull)
                self.assertEqual(os.readlink(f"/proc/{pid}/fd/1"), os.devnull)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)

    def test_exit_code(self) -> None:
        """A code other than 0 fails the run."""
        worker = self.start(steps=3, exit_code=7)
        self.assertEqual(worker.wait(), 7)
        self.assertEqual(worker.events()[-1]["outcome"], "failed")

    def test_pause_resume_checkpoint_and_stop(self) -> None:
        """The commands that its descriptor declares work."""
        worker = self.start(steps=1_000_000, rate=500)
        worker.wait_for("step")
        worker.send("pause", seq=1)
        worker.wait_for("status", state="paused")
        worker.send("checkpoint", seq=2)
        worker.send("resume", seq=3)
        worker.wait_for("log", code="W202")
        artifact = worker.wait_for("artifact", kind="checkpoint")
        saved = json.loads((worker.folder / artifact["path"]).read_text())
        self.assertEqual(saved["steps"], artifact["meta"]["step"])
        worker.send("stop", seq=4)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(worker.events()[-1], {"type": "bye", "outcome": "cancelled"})


if __name__ == "__main__":
    unittest.main()
