"""A worker process from start to exit code, as the trainer sees it."""

from __future__ import annotations

import array
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path
from typing import Any

from mosaic_worker.testing import WorkerProcess

WORKER = """
import os, sys, time
from mosaic_worker import Algorithm, Descriptor, Parameter, Supports, WorkerError, main

def work(run):
    what = run.config.params["what"]
    if what == "raise":
        raise KeyError("missing")
    if what == "worker error":
        raise WorkerError("A message.", remedy="A remedy.")
    if what == "exit":
        sys.exit(9)
    if what == "code":
        return 5
    if what == "ignore signals":
        run.emitter.emit("ready")
        while True:
            time.sleep(0.01)
    if what == "child":
        pid = os.fork()
        if pid == 0:
            while True:
                time.sleep(0.01)
        run.emitter.emit("ready", child=pid)
        run.emitter.emit("child", status=os.waitpid(pid, 0)[1])
        return None
    while what == "flood":
        run.emitter.emit("flood", pad="x" * 1000)
    if what == "commands":
        run.accept("action", "pause")
        run.emitter.emit("ready")
        while not run.should_stop:
            command = run.wait_for_command()
            run.emitter.emit("received", cmd=command.cmd if command else "none")
        run.emitter.emit("quick", timed_out=run.wait_for_command(0.001) is None)
    if what == "heartbeat":
        run.heartbeat.global_step = 100
    if what == "print":
        print("stray")
    if what == "garbage":
        class Garbage:
            def __del__(self, write=os.write):
                write(2, b"collected")
        garbage = Garbage()
        garbage.itself = garbage
    while what in ("loop", "heartbeat") and not run.should_stop:
        run.wait_while_paused()
        run.emitter.emit("turn")
        run.wait(0.01)

sys.exit(main(
    Descriptor("tiny", "Tiny", "1.0", supports=Supports(pause=True), algorithms=(
        Algorithm("one", "One", parameters=(
            Parameter("what", "str", "nothing"),
            Parameter("rate", "float", 0.5, min=0.0, max=1.0),
        )),
    )),
    work,
))
"""

EARLY_SIGNAL = """
import os, signal, sys
import mosaic_worker.run
from mosaic_worker import Algorithm, Descriptor, main

runs = []

class CollectedRun(mosaic_worker.run.Run):
    def __init__(self, **options):
        super().__init__(**options)
        runs.append(self)

mosaic_worker.run.Run = CollectedRun

def plan(config):
    os.kill(os.getpid(), signal.SIGTERM)
    assert runs[0].wait(30)
    return {}

def work(run):
    raise AssertionError("work was called")

descriptor = Descriptor("tiny", "Tiny", "1.0", (Algorithm("one", "One"),))
sys.exit(main(descriptor, work, plan=plan))
"""


class RunLifecycleTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tiny.py").write_text(WORKER)

    def start(self, *flags: str, **config: Any) -> WorkerProcess:
        (self.folder / "config.json").write_text(json.dumps(config))
        worker = WorkerProcess(["tiny.py", "--config", "config.json", *flags], self.folder)
        self.addCleanup(worker.__exit__, None, None, None)
        return worker

    def started(self, what: str, *flags: str) -> WorkerProcess:
        return self.start(*flags, params={"what": what})

    def last(self, worker: WorkerProcess) -> dict[str, Any]:
        return worker.events()[-1]

    def test_a_successful_run(self) -> None:
        """`hello` is first, every value is resolved, `bye` is last, and the exit code is 0."""
        worker = self.start(seed=4, params={"rate": 0.25})
        self.assertEqual(worker.wait(), 0)
        hello, config, *_, bye = worker.events()
        self.assertEqual((hello["type"], hello["v"], hello["worker"]), ("hello", 1, "tiny"))
        self.assertEqual(hello["pid"], worker.process.pid)
        self.assertEqual((config["type"], config["seed"]), ("config", 4))
        self.assertEqual((config["args"]["rate"], config["args"]["what"]), (0.25, "nothing"))
        self.assertEqual(bye, {"type": "bye", "outcome": "succeeded"})

    def test_the_process_exits_right_after_bye(self) -> None:
        """No garbage is collected after the last line, because the daemon waits for the process."""
        worker = self.started("garbage")
        self.assertEqual(worker.wait(), 0)
        self.assertNotIn("collected", worker.log.read_text())

    def test_a_signal_ends_the_loop_cleanly(self) -> None:
        """SIGTERM and SIGINT let the worker finish; the run is cancelled with exit code 0."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number.name):
                worker = self.started("loop")
                worker.wait_for("turn")
                worker.signal(number)
                self.assertEqual(worker.wait(), 0)
                stopping = worker.wait_for("status", state="stopping")
                self.assertEqual(stopping["reason"], f"received {number.name}")
                self.assertEqual(self.last(worker), {"type": "bye", "outcome": "cancelled"})
                worker.telemetry.unlink()

    def test_a_signal_right_after_hello_ends_the_run_cleanly(self) -> None:
        """After the first line, a signal never kills the worker without its last line."""
        for number in (signal.SIGTERM, signal.SIGINT) * 4:
            with self.subTest(signal=number.name):
                worker = self.started("loop")
                worker.wait_for("hello")
                worker.signal(number)
                self.assertEqual(worker.wait(), 0, worker.log.read_text())
                self.assertEqual(self.last(worker), {"type": "bye", "outcome": "cancelled"})
                worker.telemetry.unlink()

    def test_a_stop_before_the_start_skips_the_work(self) -> None:
        """After a signal during preparation, `work` is not called, and the exit code is 0."""
        (self.folder / "early.py").write_text(EARLY_SIGNAL)
        (self.folder / "config.json").write_text("{}")
        arguments = ["early.py", "--config", "config.json", "--emit-summary"]
        with WorkerProcess(arguments, self.folder) as worker:
            self.assertEqual(worker.wait(), 0, worker.log.read_text())
            kinds = [event["type"] for event in worker.events()]
            self.assertEqual([kind for kind in kinds if kind != "heartbeat"],
                             ["hello", "config", "bye"])  # fmt: skip
            self.assertEqual(self.last(worker)["outcome"], "cancelled")

    def test_the_stop_command_ends_the_loop_cleanly(self) -> None:
        """`stop` does what SIGTERM does."""
        worker = self.started("loop")
        worker.wait_for("turn")
        worker.send("stop", seq=1)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.last(worker)["outcome"], "cancelled")

    def test_a_second_signal_ends_a_worker_that_ignores_the_first(self) -> None:
        """The last line is still written, and the exit code has the signal."""
        worker = self.started("ignore signals")
        worker.wait_for("ready")
        worker.signal(signal.SIGTERM)
        worker.wait_for("status", state="stopping")
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.wait(), 128 + signal.SIGTERM)
        self.assertEqual(self.last(worker), {"type": "bye", "outcome": "cancelled"})

    def test_two_signals_end_a_worker_with_a_full_pipe(self) -> None:
        """A full pipe that is never read does not keep the process alive."""
        (self.folder / "config.json").write_text(json.dumps({"params": {"what": "flood"}}))
        worker = subprocess.Popen(
            [sys.executable, "tiny.py", "--config", "config.json"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        assert worker.stdout is not None
        self.addCleanup(worker.stdout.close)
        full = fcntl.fcntl(worker.stdout, 1032)  # F_GETPIPE_SZ
        deadline = time.monotonic() + 30
        while self.unread(worker.stdout.fileno()) < full // 2:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        while worker.poll() is None:
            self.assertLess(time.monotonic(), deadline)
            worker.terminate()  # two signals sent at once may be merged
            time.sleep(0.05)
        self.assertEqual(worker.returncode, 128 + signal.SIGTERM)

    def unread(self, pipe: int) -> int:
        answer = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, answer)
        return answer[0]

    def test_an_exception_fails_the_run(self) -> None:
        """Traceback in the log, message in the last line, exit code 1."""
        worker = self.started("raise")
        self.assertEqual(worker.wait(), 1)
        self.assertIn("Traceback", worker.log.read_text())
        bye = self.last(worker)
        self.assertEqual((bye["outcome"], bye["error"]), ("failed", "KeyError: 'missing'"))

    def test_a_worker_error_carries_its_remedy(self) -> None:
        """The last line has both, for the run's page."""
        worker = self.started("worker error")
        self.assertEqual(worker.wait(), 1)
        expected = {"outcome": "failed", "error": "A message.", "remedy": "A remedy."}
        self.assertEqual(self.last(worker), {"type": "bye", **expected})

    def test_the_exit_code_of_the_work_is_used(self) -> None:
        """Returned or from sys.exit, a code other than 0 fails the run."""
        for what, code in (("code", 5), ("exit", 9)):
            with self.subTest(what=what):
                worker = self.started(what)
                self.assertEqual(worker.wait(), code)
                self.assertEqual(self.last(worker)["outcome"], "failed")

    def test_pause_and_resume(self) -> None:
        """Each is reported; a paused worker does not continue its loop."""
        worker = self.started("loop")
        worker.wait_for("turn")
        worker.send("pause", seq=1)
        worker.wait_for("status", state="paused")
        turns = len(worker.events("turn"))
        worker.send("nonsense", seq=2)
        worker.wait_for("log", code="W110")
        self.assertEqual(len(worker.events("turn")), turns)
        worker.send("resume", seq=3)
        worker.until(lambda: len(worker.events("turn")) > turns, "another turn")
        states = [event["state"] for event in worker.events("status")]
        self.assertEqual(states, ["running", "paused", "running"])

    def test_waiting_for_commands_returns_them_in_order(self) -> None:
        """Including an accepted pause; a stop ends the wait without a command."""
        worker = self.started("commands")
        worker.wait_for("ready")
        worker.send("action", seq=1)
        worker.wait_for("received", cmd="action")
        worker.send("pause", seq=2)
        worker.wait_for("received", cmd="pause")
        worker.send("stop", seq=3)
        self.assertEqual(worker.wait(), 0)
        commands = [event["cmd"] for event in worker.events("received")]
        self.assertEqual(commands, ["action", "pause", "none"])
        worker.wait_for("quick", timed_out=True)

    def test_a_paused_worker_ends_on_a_signal(self) -> None:
        """Neither a pause nor a long heartbeat interval delays the end."""
        worker = self.started("loop", "--heartbeat-seconds", "3600")
        worker.wait_for("turn")
        worker.send("pause", seq=1)
        worker.wait_for("status", state="paused")
        worker.signal(signal.SIGTERM)
        self.assertEqual(worker.wait(), 0)
        self.assertEqual(self.last(worker)["outcome"], "cancelled")

    def test_heartbeats_report_steps_and_memory(self) -> None:
        """They are sent automatically, with the values that the loop has set."""
        worker = self.started("heartbeat", "--heartbeat-seconds", "0.01")
        heartbeat = worker.wait_for("heartbeat", global_step=100)
        self.assertGreater(heartbeat["rss_bytes"], 1_000_000)
        self.assertGreaterEqual(heartbeat["cpu_s"], 0)
        self.assertGreaterEqual(heartbeat["threads"], 2)
        self.assertEqual(heartbeat["processes"], 1)
        worker.until(lambda: [b for b in worker.events("heartbeat") if "sps" in b], "a rate")

    def test_a_forked_child_is_terminated_by_sigterm(self) -> None:
        """Sub-environments in other processes can be terminated."""
        worker = self.started("child")
        child = worker.wait_for("ready")["child"]
        os.kill(child, signal.SIGTERM)
        self.assertEqual(worker.wait_for("child")["status"], signal.SIGTERM)
        self.assertEqual(worker.wait(), 0)

    def test_an_invalid_config_is_in_the_log_and_in_telemetry(self) -> None:
        """Exit code 2; field, problem and remedy are in both."""
        worker = self.start(params={"rate": 7})
        self.assertEqual(worker.wait(), 2)
        self.assertIn("params.rate: 7.0 is out of range. Use a value from 0.0 to 1.0.",
                      worker.log.read_text())  # fmt: skip
        self.assertEqual(self.last(worker)["remedy"], "Use a value from 0.0 to 1.0.")

    def test_legacy_grpc_flags_are_ignored(self) -> None:
        """Older callers still work."""
        worker = self.start("--grpc", "--grpc-target", "localhost:1")
        self.assertEqual(worker.wait(), 0)
        self.assertEqual([log["code"] for log in worker.events("log")], ["W120"])


if __name__ == "__main__":
    unittest.main()
