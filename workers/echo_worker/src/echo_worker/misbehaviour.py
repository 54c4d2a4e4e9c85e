"""Misbehaviour: simulates faults of real workers on request."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker import Run

CHILDREN_LEFT = "W201"
"""The echo worker left processes behind, as requested."""

GARBAGE = (
    b'{"type":"step","episode_id":"ep0","step":',
    b"\x00\xff\xfe\x80 not text \xc3(",
    b"Traceback (most recent call last):",
    b"[1, 2, 3]",
)
HUGE_LINE_BYTES = (1 << 20) + 4096
SLEEP = "sleep 3600"


class Misbehaviour:
    """The faults in the run's parameters. Steps are counted from 1; 0 disables a fault."""

    def __init__(self, run: Run) -> None:
        self._run = run
        params = run.config.params
        self._garbage_every: int = params["garbage_every"]
        self._huge_line_at: int = params["huge_line_at"]
        self._crash_at: int = params["crash_at"]
        self._hang_at: int = params["hang_at"]
        self._ignore_term: bool = params["ignore_term"]
        self._fork: int = params["fork"]
        self._children: list[subprocess.Popen[bytes]] = []

    def at_start(self) -> None:
        if self._ignore_term:
            # Not SIG_IGN, which the children would inherit.
            signal.signal(signal.SIGTERM, lambda *_: None)
            self._run.on("stop", lambda _: None)
        if self._fork:
            pids = [self._start_stray(index) for index in range(self._fork)]
            self._run.emitter.log(
                "info", CHILDREN_LEFT, f"{len(pids)} processes were left behind.", pids=pids
            )

    def after_step(self, done: int) -> None:
        """Call it after the line of the step is written."""
        if self._garbage_every and done % self._garbage_every == 0:
            kind = done // self._garbage_every % len(GARBAGE)
            self._run.emitter.write_line(GARBAGE[kind])
        if done == self._huge_line_at:
            self._run.emitter.write_line(b'{"type":"log","x":"' + b"x" * HUGE_LINE_BYTES + b'"}')
        if done == self._crash_at:
            self._crash()
        if done == self._hang_at:
            self._hang()

    def _crash(self) -> None:
        self._run.emitter.flush()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGSEGV)

    def _hang(self) -> None:
        self._run.heartbeat.stop()
        while not self._run.wait(3600):
            pass

    def _start_stray(self, index: int) -> int:
        """Start a child, or for odd indices an orphan in its own session; returns the pid."""
        if index % 2 == 0:
            child = subprocess.Popen(
                SLEEP.split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            self._children.append(child)
            return child.pid
        orphan = subprocess.run(
            ["sh", "-c", f"{SLEEP} >/dev/null 2>&1 & echo $!"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
            check=True,
        )
        return int(orphan.stdout)
