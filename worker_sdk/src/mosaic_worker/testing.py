"""Runs a worker the way the trainer does, for a worker's own tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from typing_extensions import Self

T = TypeVar("T")

DEADLINE_SECONDS = 30.0
_LOOK_SECONDS = 0.005


class WorkerProcess:
    """`python ARGUMENTS` in `folder`: stdout to a file, stderr to a log, commands through stdin.

    Use it as a context manager; a worker that still runs at the end is killed.
    """

    def __init__(self, arguments: Sequence[str], folder: Path) -> None:
        self.folder = folder
        self.telemetry = folder / "telemetry.jsonl"
        self.log = folder / "worker.log"
        environment = {**os.environ, "MOSAIC_RUN_DIR": str(folder), "PYTHONUNBUFFERED": "1"}
        with self.telemetry.open("ab") as stdout, self.log.open("ab") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
            )

    def send(self, cmd: str, /, **fields: Any) -> None:
        """Send a command."""
        self.send_line(json.dumps({"cmd": cmd, **fields}).encode("utf-8"))

    def send_line(self, line: bytes) -> None:
        """Send a line that may be no command."""
        if self.process.stdin is None:
            raise ValueError("the worker's stdin is closed")
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def lines(self) -> list[bytes]:
        """Every complete line so far."""
        return self.telemetry.read_bytes().split(b"\n")[:-1]

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """Every line so far, or those of one type. Raises for a line that is no JSON."""
        events = [json.loads(line) for line in self.lines()]
        return [event for event in events if not kind or event["type"] == kind]

    def wait_for(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """The first line of this type with these fields; waits for it."""

        def find() -> dict[str, Any] | None:
            for event in self.events(kind):
                if fields.items() <= event.items():
                    return event
            return None

        return self.until(find, f"a {kind} line with {fields}")

    def until(self, look: Callable[[], T | None], what: str) -> T:
        """What `look` returns once it is true."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            over = self.process.poll() is not None
            found = look()
            if found:
                return found
            if over or time.monotonic() > deadline:
                raise AssertionError(f"never saw {what}\n{self.log.read_text()[-4000:]}")
            time.sleep(_LOOK_SECONDS)

    def wait(self) -> int:
        """The exit code; negative for a signal."""
        return self.process.wait(DEADLINE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
