"""The terminal of a play session: key presses, and an alternate screen.

`PlayTerminal` is a context manager. It restores the terminal however the block ends: by an error,
Ctrl-C or a signal. Ctrl-Z restores it until the program continues.
"""

import errno
import os
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Self, TextIO

from mosaic.cli.terminal.keys import KeyDecoder
from mosaic.contract.errors import UserError

NO_TERMINAL = "C200"
"""Playing with the keyboard needs a terminal."""

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
_LEAVE = "\x1b[?25h\x1b[?1049l"
_FRAME_START, _FRAME_END = "\x1b[?2026h\x1b[H", "\x1b[J\x1b[?2026l"
_ESCAPE_TIMEOUT_S = 0.05
_READ_BYTES = 1024
_TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class PlayTerminal:
    """Reads keys from stdin, writes lines to `screen`. Main thread only, except `wake`."""

    def __init__(self, screen: TextIO) -> None:
        self._screen = screen
        self._stdin_fd = sys.stdin.fileno()
        self._saved_attributes: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self._decoder = KeyDecoder()
        self._wake_read_fd, self._wake_write_fd = -1, -1
        self._wake_lock = threading.RLock()

    @staticmethod
    def find(*, is_stdout_used: bool) -> "PlayTerminal":
        """Return the terminal. Raises `UserError` if there is none."""
        screens = (sys.stderr,) if is_stdout_used else (sys.stdout, sys.stderr)
        screen = next((stream for stream in screens if stream and stream.isatty()), None)
        if screen is None or sys.stdin is None or not sys.stdin.isatty():
            raise UserError(
                "Playing with the keyboard needs a terminal.",
                remedy="Run it in a terminal, or let an actor play with `--actor random`.",
                code=NO_TERMINAL,
            )
        return PlayTerminal(screen)

    @property
    def encoding(self) -> str:
        return self._screen.encoding or "ascii"

    @property
    def stream(self) -> TextIO:
        return self._screen

    def __enter__(self) -> Self:
        self._wake_read_fd, self._wake_write_fd = os.pipe()
        os.set_blocking(self._wake_write_fd, False)
        os.set_blocking(self._wake_read_fd, False)
        self._handle(signal.SIGTSTP, self._on_suspend)
        self._handle(signal.SIGWINCH, self._on_resize)
        for number in _TERMINATION_SIGNALS:
            self._handle(number, _exit)
        try:
            self._acquire()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()
        with self._wake_lock:
            for descriptor in (self._wake_read_fd, self._wake_write_fd):
                os.close(descriptor)
            self._wake_read_fd, self._wake_write_fd = -1, -1

    def size(self) -> tuple[int, int]:
        """Return the current columns and rows."""
        try:
            size = os.get_terminal_size(self._screen.fileno())
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24

    def wake(self) -> None:
        """Make `wait` return. Any thread, also after the block has ended."""
        with self._wake_lock, suppress(OSError):
            os.write(self._wake_write_fd, b"!")

    def wait(self, timeout_s: float | None) -> list[str]:
        """Return the pressed keys; empty after `wake` or the timeout."""
        if self._decoder.is_waiting:
            timeout_s = (
                _ESCAPE_TIMEOUT_S if timeout_s is None else min(timeout_s, _ESCAPE_TIMEOUT_S)
            )
        ready, _, _ = select.select([self._stdin_fd, self._wake_read_fd], [], [], timeout_s)
        if self._wake_read_fd in ready:
            with suppress(BlockingIOError):
                os.read(self._wake_read_fd, _READ_BYTES)
        if self._stdin_fd not in ready:
            return self._decoder.flush() if not ready else []
        try:
            data = os.read(self._stdin_fd, _READ_BYTES)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            raise EOFError("the terminal was closed")
        return self._decoder.feed(data)

    def draw(self, lines: list[str]) -> None:
        """Replace the screen by these lines, which must fit, in one write to avoid flicker."""
        body = "\r\n".join(f"{line}\x1b[K" for line in lines)
        self._write(f"{_FRAME_START}{body}{_FRAME_END}")

    def _acquire(self) -> None:
        self._screen.flush()
        self._saved_attributes = termios.tcgetattr(self._stdin_fd)
        # Ctrl-C and Ctrl-Z stay signals; input is neither echoed nor buffered by lines.
        tty.setcbreak(self._stdin_fd, termios.TCSADRAIN)
        self._write(_ENTER)

    def _restore(self) -> None:
        attributes, self._saved_attributes = self._saved_attributes, None
        if attributes is None:
            return
        # A closed terminal cannot be restored.
        with suppress(OSError, ValueError):
            self._write(_LEAVE)
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._stdin_fd, termios.TCSAFLUSH, attributes)

    def _write(self, text: str) -> None:
        # Not through the stream: signal handlers write, too, and streams are not re-entrant.
        data = text.encode(self.encoding, errors="replace")
        while data:
            data = data[os.write(self._screen.fileno(), data) :]

    def _handle(self, number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        self._handlers[number] = signal.signal(number, handler)

    def _on_resize(self, _number: int, _frame: FrameType | None) -> None:
        self.wake()

    def _on_suspend(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: restore the terminal, suspend the process, and acquire it again afterwards."""
        self._restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._on_suspend)
        self._acquire()
        self.wake()


def _exit(number: int, _frame: FrameType | None) -> None:
    """Exit through all `with` blocks."""
    raise SystemExit(128 + number)
