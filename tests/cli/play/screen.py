"""A program on its own terminal, and its screen."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_DEADLINE_S = 120
_MAX_OUTPUT = 2000
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = re.compile(r"\x1b\[H((?:(?!\x1b\[H).)*?)\x1b\[J", re.DOTALL)
LEFT = "\x1b[?1049l"
"""The escape sequence that leaves the alternate screen."""


class Screen:
    """The terminal. `output` is everything that was written to it."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        size: tuple[int, int] = (80, 24),
    ) -> None:
        self.output = ""
        self.pid, self._screen = pty.fork()
        if self.pid == 0:  # the child
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _resize(0, size)
            os.chdir(folder)
            os.execvpe(command[0], [*command], {**environment, "TERM": "xterm-256color"})  # noqa: S606

    def settings(self) -> list[Any]:
        """The attributes of the terminal, such as echo and line buffering."""
        return termios.tcgetattr(self._screen)

    def resize(self, columns: int, rows: int) -> None:
        _resize(self._screen, (columns, rows))

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    @property
    def frame(self) -> str:
        """The current screen without colours; empty if nothing was drawn yet."""
        frames = _FRAME.findall(self.output)
        if not frames:
            return ""
        return re.sub(r"\r+\n", "\n", _STYLE.sub("", frames[-1]).replace("\x1b[K", ""))

    def read_until(self, condition: Callable[[], bool] | str) -> None:
        """Read until the screen contains the text, or the condition is true."""
        holds = (
            condition if callable(condition) else lambda: condition in (self.frame or self.output)
        )
        deadline = time.monotonic() + _DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline, f"{condition}: {self.frame or self.tail}"
            if select.select([self._screen], [], [], 0.5)[0]:
                part = self._read()
                assert part, f"it ended: {self.tail}"
                self.output += part

    def end(self) -> int:
        """Read to the end and return the exit code."""
        while part := self._read():
            self.output += part
        os.close(self._screen)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> str:
        """Return the next output; empty at the end."""
        try:
            return os.read(self._screen, 65536).decode(errors="replace")
        except OSError:  # Linux reports a closed other end this way
            return ""

    @property
    def tail(self) -> str:
        """The end of the output, without colours."""
        return _STYLE.sub("", self.output)[-_MAX_OUTPUT:]

    @property
    def afterwards(self) -> str:
        """The output after the program left the alternate screen."""
        return _STYLE.sub("", self.output.rpartition(LEFT)[2])


def fresh_settings() -> list[Any]:
    """The attributes of an unchanged terminal."""
    ends = pty.openpty()
    try:
        return termios.tcgetattr(ends[1])
    finally:
        for end in ends:
            os.close(end)


def _resize(descriptor: int, size: tuple[int, int]) -> None:
    columns, rows = size
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
