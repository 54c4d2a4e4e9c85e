"""A terminal that is played on: keys as they are pressed, a screen of its own, and back again.

`PlayTerminal` is used in a `with` block by `terminal_play`. However the block is left (an error,
Ctrl-C, a signal), the terminal is as it was; Ctrl-Z gives it back until the program goes on.
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

from mosaic.cli.play.key_decoding import KeyDecoder
from mosaic.contract.errors import UserError

NO_TERMINAL = "C200"
"""Playing with keys needs a terminal, and there is none."""

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[2J"
_LEAVE = "\x1b[?25h\x1b[?1049l"
_BEGIN_FRAME, _END_FRAME = "\x1b[?2026h\x1b[H", "\x1b[J\x1b[?2026l"
_ESCAPE_WAIT_S = 0.05
_READ_BYTES = 1024
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class PlayTerminal:
    """Keys from stdin, lines onto `screen`. For the main thread; `wake` is for any."""

    def __init__(self, screen: TextIO) -> None:
        self._screen = screen
        self._keys = sys.stdin.fileno()
        self._before: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self._decoder = KeyDecoder()
        self._woken, self._waker = -1, -1
        self._waking = threading.RLock()

    @staticmethod
    def find(*, stdout_is_taken: bool) -> "PlayTerminal":
        """The terminal, or a `UserError` that says what can be done without one."""
        screens = (sys.stderr,) if stdout_is_taken else (sys.stdout, sys.stderr)
        screen = next((stream for stream in screens if stream and stream.isatty()), None)
        if screen is None or sys.stdin is None or not sys.stdin.isatty():
            raise UserError(
                "Playing with keys needs a terminal, and this is none.",
                remedy="Run it in a terminal, or let an actor play: `--actor random`.",
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
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self._woken, False)
        self._handle(signal.SIGTSTP, self._on_suspend)
        self._handle(signal.SIGWINCH, self._on_resize)
        for ending in _ENDING_SIGNALS:
            self._handle(ending, _end)
        try:
            self._take()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()
        with self._waking:
            for descriptor in (self._woken, self._waker):
                os.close(descriptor)
            self._woken, self._waker = -1, -1

    def size(self) -> tuple[int, int]:
        """Columns and rows as they are now."""
        try:
            found = os.get_terminal_size(self._screen.fileno())
        except OSError:
            return 80, 24
        return found.columns or 80, found.lines or 24

    def wake(self) -> None:
        """Let `wait` return. From any thread, also when the block is already left."""
        with self._waking, suppress(OSError):
            os.write(self._waker, b"!")

    def wait(self, timeout_s: float | None) -> list[str]:
        """The keys that were pressed; none when it was woken or nothing happened in that time."""
        if self._decoder.is_waiting:
            timeout_s = _ESCAPE_WAIT_S if timeout_s is None else min(timeout_s, _ESCAPE_WAIT_S)
        ready, _, _ = select.select([self._keys, self._woken], [], [], timeout_s)
        if self._woken in ready:
            with suppress(BlockingIOError):
                os.read(self._woken, _READ_BYTES)
        if self._keys not in ready:
            return self._decoder.give_up() if not ready else []
        try:
            data = os.read(self._keys, _READ_BYTES)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        if not data:
            raise EOFError("the terminal is gone")
        return self._decoder.feed(data)

    def draw(self, lines: list[str]) -> None:
        """Put these lines, which fit, in place of what is shown. In one write: nothing flickers."""
        body = "\r\n".join(f"{line}\x1b[K" for line in lines)
        self._write(f"{_BEGIN_FRAME}{body}{_END_FRAME}")

    def _take(self) -> None:
        self._screen.flush()
        self._before = termios.tcgetattr(self._keys)
        # Ctrl-C and Ctrl-Z stay signals; what is typed is neither echoed nor held back.
        tty.setcbreak(self._keys, termios.TCSADRAIN)
        self._write(_ENTER)

    def _give_back(self) -> None:
        before, self._before = self._before, None
        if before is None:
            return
        # A terminal that has gone away has nothing to be restored.
        with suppress(OSError, ValueError):
            self._write(_LEAVE)
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._keys, termios.TCSAFLUSH, before)

    def _write(self, text: str) -> None:
        # Not through the stream: a signal's handler writes too, and no stream may be re-entered.
        data = text.encode(self.encoding, errors="replace")
        while data:
            data = data[os.write(self._screen.fileno(), data) :]

    def _handle(self, number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        self._handlers[number] = signal.signal(number, handler)

    def _on_resize(self, _number: int, _frame: FrameType | None) -> None:
        self.wake()

    def _on_suspend(self, _number: int, _frame: FrameType | None) -> None:
        """Ctrl-Z: give the terminal back, stop as any program does, and take it again after."""
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._on_suspend)
        self._take()
        self.wake()


def _end(number: int, _frame: FrameType | None) -> None:
    """So that `with` blocks are left in order."""
    raise SystemExit(128 + number)
