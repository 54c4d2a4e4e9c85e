"""WorkerProcess: runs a worker like the trainer does, for tests of workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mosaic_worker.compat import make_getattr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from typing_extensions import Self

T = TypeVar("T")

TIMEOUT_S = 30.0
_POLL_S = 0.005


class WorkerProcess:
    """Runs `python ARGUMENTS` in `folder`: stdout to a file, stderr to a log, commands to stdin.

    Use it as a context manager; a worker that is still running at the end is killed.
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
        """Send a line, which may be an invalid command."""
        if self.process.stdin is None:
            raise ValueError("the worker's stdin is closed")
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def lines(self) -> list[bytes]:
        """All complete lines so far."""
        return self.telemetry.read_bytes().split(b"\n")[:-1]

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """All lines so far, or those of one type. Raises ValueError for invalid JSON."""
        events = [json.loads(line) for line in self.lines()]
        return [event for event in events if not kind or event["type"] == kind]

    def wait_for(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Wait for a line of this type with these fields, and return the first."""

        def find() -> dict[str, Any] | None:
            for event in self.events(kind):
                if fields.items() <= event.items():
                    return event
            return None

        return self.until(find, f"a {kind} line with {fields}")

    def until(self, condition: Callable[[], T | None], what: str) -> T:
        """Call `condition` until it returns a true value, and return that."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            has_exited = self.process.poll() is not None
            result = condition()
            if result:
                return result
            if has_exited or time.monotonic() > deadline:
                raise AssertionError(f"did not find {what}\n{self.log.read_text()[-4000:]}")
            time.sleep(_POLL_S)

    def wait(self) -> int:
        """The exit code; negative for a signal."""
        return self.process.wait(TIMEOUT_S)

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


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)
