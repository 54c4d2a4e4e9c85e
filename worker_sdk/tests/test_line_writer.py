"""Lines stay complete when the disk is full or the reader is gone."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

from mosaic_worker.emitter import Emitter
from mosaic_worker.run_control import RunControl

LIMIT = 10_000


def limited_writer() -> None:
    """In a child: write numbered lines to a file whose size is limited to LIMIT at first."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))
    control = RunControl()
    signal.signal(signal.SIGUSR1, lambda *_: _raise_limit())
    threading.Thread(target=_stop_at_end_of_input, args=(control,), daemon=True).start()
    emitter = Emitter(run_control=control)
    for n in range(500):
        emitter.emit("line", n=n, pad="x" * 60)
    _raise_limit()
    emitter.emit("end")


def _raise_limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _stop_at_end_of_input(control: RunControl) -> None:
    sys.stdin.read()
    control.stop("requested by the test")


class FullDiskTest(unittest.TestCase):
    """A file size limit simulates a full disk: it also cuts a line in two."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "telemetry.jsonl"
        self.log = Path(folder.name) / "log"
        with self.file.open("ab") as stdout, self.log.open("ab") as stderr:
            self.child = subprocess.Popen(
                [sys.executable, __file__, "limited_writer"],
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
            )
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)
        assert self.child.stdin is not None
        self.stdin = self.child.stdin
        self.addCleanup(self.stdin.close)
        self.until(lambda: b"Training waits" in self.log.read_bytes())
        self.assertEqual(self.file.stat().st_size, LIMIT)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.log.read_text())
            time.sleep(0.01)

    def test_it_waits_for_space_and_loses_no_line(self) -> None:
        """When there is free space again, a partial line is completed."""
        self.child.send_signal(signal.SIGUSR1)
        self.assertEqual(self.child.wait(30), 0)
        lines = [json.loads(line) for line in self.file.read_bytes().splitlines()]
        self.assertEqual([line.get("n") for line in lines], [*range(500), None])
        self.assertEqual(self.log.read_bytes().count(b"Training waits"), 1)

    def test_a_stop_ends_the_wait_and_the_loss_is_counted(self) -> None:
        """With a full disk, a stop drops lines and reports how many."""
        self.stdin.close()
        self.assertEqual(self.child.wait(30), 0)
        *complete, partial, notice, end = self.file.read_bytes().splitlines()
        written = [json.loads(line)["n"] for line in complete]
        self.assertEqual(written, list(range(len(written))))
        self.assertRaises(ValueError, json.loads, partial)
        self.assertEqual(json.loads(end), {"type": "end"})
        self.assertEqual(json.loads(notice)["code"], "W103")
        self.assertEqual(json.loads(notice)["fields"]["dropped"], 500 - len(written))


class StallThreadTest(unittest.TestCase):
    def test_two_threads_start_one_stall_thread(self) -> None:
        """Even if both find that there is none yet."""
        descriptor = os.open(os.devnull, os.O_WRONLY)
        self.addCleanup(os.close, descriptor)
        emitter = Emitter(fd=descriptor)
        self.addCleanup(emitter.writer.close)
        barrier = threading.Barrier(2, timeout=0.2)
        created = []

        class SlowThread(threading.Thread):
            """Takes long to create, so that a second thread could create another one."""

            def __init__(self, *args: Any, **keywords: Any) -> None:
                created.append(self)
                with contextlib.suppress(threading.BrokenBarrierError):
                    barrier.wait()
                super().__init__(*args, **keywords)

        callers = [threading.Thread(target=emitter.writer.watch_for_stall) for _ in range(2)]
        with mock.patch.object(threading, "Thread", SlowThread):
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
        self.assertEqual(len(created), 1)


class LostReaderTest(unittest.TestCase):
    def test_a_closed_pipe_ends_the_run(self) -> None:
        """The run stops; nothing hangs or raises."""
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, write_end)
        control = RunControl()
        emitter = Emitter(fd=write_end, run_control=control)
        self.addCleanup(emitter.writer.close)
        os.close(read_end)
        emitter.metric("a", 1.0)
        emitter.metric("b", 1.0)
        self.assertTrue(control.is_stopping)
        self.assertEqual(emitter.broken, os.strerror(errno.EPIPE))
        self.assertFalse(emitter.bye("failed"))

    def test_a_slow_reader_is_waited_for(self) -> None:
        """A full non-blocking pipe delays lines and loses none."""
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        os.set_blocking(write_end, False)
        emitter = Emitter(fd=write_end)
        self.addCleanup(emitter.writer.close)

        def work() -> None:
            for n in range(3000):
                emitter.emit("line", n=n, pad="x" * 100)
            os.close(write_end)

        thread = threading.Thread(target=work)
        thread.start()
        data = bytearray()
        while True:
            block = os.read(read_end, 4096)
            if not block:
                break
            data += block
        thread.join()
        numbers = [json.loads(line)["n"] for line in data.splitlines()]
        self.assertEqual(numbers, list(range(3000)))

    def test_a_slow_reader_of_a_high_descriptor_is_waited_for(self) -> None:
        """In a process with more than a thousand open files."""
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        self.addCleanup(os.close, write_end)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 2048:
            self.skipTest("no descriptor past 1023 may be opened here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        high = fcntl.fcntl(write_end, fcntl.F_DUPFD_CLOEXEC, 1024)
        self.addCleanup(os.close, high)
        os.set_blocking(high, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(high, b"\n" * 65536)
        emitter = Emitter(fd=high)
        self.addCleanup(emitter.writer.close)
        thread = threading.Thread(target=emitter.emit, args=("line",))
        thread.start()
        while filled:
            filled -= len(os.read(read_end, min(filled, 65536)))
        thread.join()
        self.assertEqual(emitter.broken, "")
        self.assertEqual(os.read(read_end, 100), b'{"type":"line"}\n')

    def test_a_full_device_does_not_delay_a_stop(self) -> None:
        """A run that is stopping ends at once if nothing can be written."""
        full = os.open("/dev/full", os.O_WRONLY)
        self.addCleanup(os.close, full)
        control = RunControl()
        control.stop("requested by the test")
        emitter = Emitter(fd=full, run_control=control)
        self.addCleanup(emitter.writer.close)
        emitter.metric("a", 1.0)
        self.assertFalse(emitter.bye("cancelled"))


if __name__ == "__main__":
    if sys.argv[1:] == ["limited_writer"]:
        limited_writer()
    else:
        unittest.main()
