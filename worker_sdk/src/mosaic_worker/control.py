"""Control: reads commands, one JSON object per line, from standard input."""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.standard_streams import claim_stdin

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.emitter import Emitter

MAX_COMMAND_BYTES = 4096
MAX_QUEUED = 1024
_MAX_SEQ = 2**63 - 1

UNKNOWN_COMMAND = "W110"
"""The worker does not know the command."""

INVALID_COMMAND = "W111"
"""A control line that is not a valid command was ignored."""

HANDLER_FAILED = "W112"
"""A command failed."""

COMMANDS_IGNORED = "W113"
"""A command was ignored because the queue is full."""


class ControlCommand(NamedTuple):
    """One command: its name, its sequence number (0 if it has none), and all its fields."""

    cmd: str
    seq: int
    fields: dict[str, Any]


Command = ControlCommand
"""The former name, which workers may still import."""


class InvalidCommandError(ValueError):
    """A line is not a valid command; the message says why."""


class Control:
    """Delivers commands to handlers (called in the control thread) or to `poll`.

    Unknown commands and invalid lines are answered with a `log` line. End of input is not an
    error: a worker that is started in a terminal may have no input.
    """

    def __init__(
        self, emitter: Emitter, fd: int | None = None, wake: Callable[[], None] | None = None
    ) -> None:
        """Claim standard input, or read `fd` and leave standard input alone.

        `wake` is called in the control thread when a command is queued for `poll`.
        """
        self._emitter = emitter
        self._wake = wake
        self._dispatching = threading.RLock()
        self._fd = claim_stdin() if fd is None else fd
        self._handlers: dict[str, Callable[[ControlCommand], None]] = {}
        self._accepted: set[str] = set()
        self._queue: deque[ControlCommand] = deque()

    def on(self, cmd: str, handler: Callable[[ControlCommand], None]) -> None:
        """Call `handler` for each `cmd`, in the control thread. Replaces an earlier handler."""
        self._handlers[cmd] = handler

    def accept(self, *cmds: str) -> None:
        """Queue these commands for `poll`, and remove their handlers.

        When this returns, none of those handlers is running.
        """
        with self._dispatching:
            self._accepted.update(cmds)
            for cmd in cmds:
                self._handlers.pop(cmd, None)

    def poll(self) -> ControlCommand | None:
        """The oldest queued command, or None."""
        return self._queue.popleft() if self._queue else None

    def has_queued(self) -> bool:
        """Whether `poll` would return a command."""
        return bool(self._queue)

    def start(self) -> None:
        if self._fd is not None and not _is_in_background(self._fd):
            threading.Thread(
                target=self._read, args=(self._fd,), name="mosaic-control", daemon=True
            ).start()

    def _read(self, fd: int) -> None:
        rest = b""
        is_skipping = False
        while True:
            try:
                data = os.read(fd, 65536)
            except OSError:
                return
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if is_skipping:
                    is_skipping = False
                else:
                    self._handle_line(line)
            if len(rest) > MAX_COMMAND_BYTES:
                if not is_skipping:
                    self._handle_line(rest)
                rest, is_skipping = b"", True

    def _handle_line(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            command = parse_command(line)
        except InvalidCommandError as error:
            self._emitter.log("warning", INVALID_COMMAND, f"A control line was ignored: {error}.")
            return
        with self._dispatching:
            self._dispatch(command)

    def _dispatch(self, command: ControlCommand) -> None:
        handler = self._handlers.get(command.cmd)
        if handler is not None:
            self._call(handler, command)
        elif command.cmd in self._accepted:
            self._enqueue(command)
        else:
            self._emitter.log(
                "warning",
                UNKNOWN_COMMAND,
                f"Unknown command '{command.cmd}'.",
                cmd=command.cmd,
                seq=command.seq,
            )

    def _call(self, handler: Callable[[ControlCommand], None], command: ControlCommand) -> None:
        try:
            handler(command)
        except Exception as error:  # noqa: BLE001 - top level of the thread: it survives a failing handler
            traceback.print_exc(file=sys.stderr)
            self._emitter.log(
                "error",
                HANDLER_FAILED,
                f"The command '{command.cmd}' failed: {type(error).__name__}: {error}",
                cmd=command.cmd,
                seq=command.seq,
            )

    def _enqueue(self, command: ControlCommand) -> None:
        if len(self._queue) < MAX_QUEUED:
            self._queue.append(command)
            if self._wake is not None:
                self._wake()
        else:
            self._emitter.log(
                "warning",
                COMMANDS_IGNORED,
                f"'{command.cmd}' was ignored: {MAX_QUEUED} commands are queued already.",
                cmd=command.cmd,
                seq=command.seq,
            )


def parse_command(line: bytes) -> ControlCommand:
    """Parse a control line. Raises InvalidCommandError."""
    if len(line) > MAX_COMMAND_BYTES:
        raise InvalidCommandError(f"it is longer than {MAX_COMMAND_BYTES} bytes")
    try:
        fields = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise InvalidCommandError(f"it is not JSON ({error})") from None
    except RecursionError:
        raise InvalidCommandError("it is nested too deeply") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("cmd"), str):
        raise InvalidCommandError('it is not an object with a "cmd"')
    seq = fields.get("seq", 0)
    if isinstance(seq, bool) or not isinstance(seq, int):
        raise InvalidCommandError(f'"seq" must be an integer, got {type(seq).__name__}')
    if not 0 <= seq <= _MAX_SEQ:
        raise InvalidCommandError('"seq" must be from 0 to 2^63 - 1')
    return ControlCommand(fields["cmd"], seq, fields)


def _is_in_background(fd: int) -> bool:
    """Whether reading this terminal would stop the process (SIGTTIN)."""
    try:
        return os.isatty(fd) and os.tcgetpgrp(fd) != os.getpgrp()
    except OSError:
        return False
