"""Reads commands, one JSON object per line, from the process's standard input."""

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
MAX_WAITING = 1024
_LARGEST_SEQ = 2**63 - 1

UNKNOWN_COMMAND = "W110"
"""The worker does not know a command."""

BROKEN_COMMAND = "W111"
"""A control line that is no command was ignored."""

HANDLER_FAILED = "W112"
"""A command failed."""

COMMANDS_IGNORED = "W113"
"""A command was ignored because too many are waiting."""


class Command(NamedTuple):
    """One command: its name, its sequence number (0 when it has none), and all it carries."""

    cmd: str
    seq: int
    fields: dict[str, Any]


class BrokenCommandError(ValueError):
    """A line that is no command; the message says why."""


class Control:
    """Delivers commands to handlers (called in this thread) or to `poll`.

    Commands that nobody asked for and lines that are no command are answered with a `log` line.
    End of input is no error: a worker run by hand may have none.
    """

    def __init__(
        self, emitter: Emitter, fd: int | None = None, wake: Callable[[], None] | None = None
    ) -> None:
        """Claim standard input, or read `fd` and leave standard input alone.

        `wake` is called, in the control thread, when a command waits for `poll`.
        """
        self._emitter = emitter
        self._wake = wake
        self._dispatching = threading.RLock()
        self._fd = claim_stdin() if fd is None else fd
        self._handlers: dict[str, Callable[[Command], None]] = {}
        self._accepted: set[str] = set()
        self._waiting: deque[Command] = deque()

    def on(self, cmd: str, handler: Callable[[Command], None]) -> None:
        """Call `handler` for each `cmd`, in the control thread. The last one given counts."""
        self._handlers[cmd] = handler

    def accept(self, *cmds: str) -> None:
        """Keep these commands for `poll`, from now on also those that had a handler.

        When this returns, no handler of theirs is running any more.
        """
        with self._dispatching:
            self._accepted.update(cmds)
            for cmd in cmds:
                self._handlers.pop(cmd, None)

    def poll(self) -> Command | None:
        """The oldest waiting command, or None."""
        return self._waiting.popleft() if self._waiting else None

    def has_waiting(self) -> bool:
        """Whether `poll` would return a command."""
        return bool(self._waiting)

    def start(self) -> None:
        if self._fd is not None and not _in_background(self._fd):
            threading.Thread(
                target=self._read, args=(self._fd,), name="mosaic-control", daemon=True
            ).start()

    def _read(self, fd: int) -> None:
        tail = b""
        skipping = False
        while True:
            try:
                data = os.read(fd, 65536)
            except OSError:
                return
            if not data:
                return
            *lines, tail = (tail + data).split(b"\n")
            for line in lines:
                if skipping:
                    skipping = False
                else:
                    self._take(line)
            if len(tail) > MAX_COMMAND_BYTES:
                if not skipping:
                    self._take(tail)
                tail, skipping = b"", True

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            command = parse_command(line)
        except BrokenCommandError as error:
            self._emitter.log("warning", BROKEN_COMMAND, f"A control line was ignored: {error}.")
            return
        with self._dispatching:
            self._dispatch(command)

    def _dispatch(self, command: Command) -> None:
        handler = self._handlers.get(command.cmd)
        if handler is not None:
            self._call(handler, command)
        elif command.cmd in self._accepted:
            self._keep(command)
        else:
            self._emitter.log(
                "warning",
                UNKNOWN_COMMAND,
                f"This worker does not know the command '{command.cmd}'.",
                cmd=command.cmd,
                seq=command.seq,
            )

    def _call(self, handler: Callable[[Command], None], command: Command) -> None:
        try:
            handler(command)
        except Exception as error:  # noqa: BLE001 - the thread's edge: control outlives a handler
            traceback.print_exc(file=sys.stderr)
            self._emitter.log(
                "error",
                HANDLER_FAILED,
                f"The command '{command.cmd}' failed: {type(error).__name__}: {error}",
                cmd=command.cmd,
                seq=command.seq,
            )

    def _keep(self, command: Command) -> None:
        if len(self._waiting) < MAX_WAITING:
            self._waiting.append(command)
            if self._wake is not None:
                self._wake()
        else:
            self._emitter.log(
                "warning",
                COMMANDS_IGNORED,
                f"'{command.cmd}' was ignored: {MAX_WAITING} commands are waiting already.",
                cmd=command.cmd,
                seq=command.seq,
            )


def parse_command(line: bytes) -> Command:
    """The command in `line`; BrokenCommandError says what is wrong with it."""
    if len(line) > MAX_COMMAND_BYTES:
        raise BrokenCommandError(f"it is longer than {MAX_COMMAND_BYTES} bytes")
    try:
        fields = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise BrokenCommandError(f"it is not JSON ({error})") from None
    except RecursionError:
        raise BrokenCommandError("it is nested too deeply") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("cmd"), str):
        raise BrokenCommandError('it is not an object with a "cmd"')
    seq = fields.get("seq", 0)
    if isinstance(seq, bool) or not isinstance(seq, int):
        raise BrokenCommandError(f'"seq" is not a whole number but {type(seq).__name__}')
    if not 0 <= seq <= _LARGEST_SEQ:
        raise BrokenCommandError('"seq" is not a number from 0 to 2^63 - 1')
    return Command(fields["cmd"], seq, fields)


def _in_background(fd: int) -> bool:
    """Whether reading this terminal would stop the process (SIGTTIN)."""
    try:
        return os.isatty(fd) and os.tcgetpgrp(fd) != os.getpgrp()
    except OSError:
        return False
