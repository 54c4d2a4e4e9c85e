"""Runs a program and records its changes to a directory, in order, with `record_writes.c`."""

import ctypes
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

_SOURCE = Path(__file__).with_name("record_writes.c")
_CHECKOUT = Path(__file__).parents[3]
_HEADER = struct.Struct("=IIIIQQ")
_TIMEOUT_S = 100


class Kind(IntEnum):
    """Kinds of operations, with the numbers of `record_writes.c`."""

    CREATE = 1
    WRITE = 2
    TRUNCATE = 3
    RENAME = 4
    UNLINK = 5
    MAKE_FOLDER = 6
    REMOVE_FOLDER = 7
    LINK = 8
    SYNC_FILE = 9
    SYNC_FOLDER = 10
    SYNC_ALL = 11
    MARK = 12


class Operation(NamedTuple):
    """One recorded call. Paths are relative to the recorded directory."""

    kind: Kind
    path: str = ""
    target: str = ""
    """The new path of a rename or a link."""
    file: int = 0
    """The inode number of the file that was created, changed or synced."""
    offset: int = 0
    """Of a write; the new size of a truncation."""
    data: bytes = b""


class Recording(NamedTuple):
    """The operations of a program, and the directory that it left."""

    root: Path
    operations: list[Operation]

    def marks(self) -> list[tuple[int, Any]]:
        """The values given to `mark`, each with its position among the operations."""
        return [
            (position, json.loads(operation.data))
            for position, operation in enumerate(self.operations)
            if operation.kind is Kind.MARK
        ]


class Recorder:
    """Records programs with a compiled library."""

    def __init__(self, compiler: str, folder: Path) -> None:
        self._folder = folder
        self._library = folder / "record_writes.so"
        subprocess.run(
            [compiler, "-std=gnu11", "-shared", "-fPIC", "-o", self._library, _SOURCE, "-lpthread"],
            check=True,
            timeout=_TIMEOUT_S,
        )

    def record(self, name: str, command: Sequence[str | Path]) -> Recording:
        """Run `command` with the path of an empty directory as additional first argument.

        `command` is the name of a module and its arguments.
        """
        root = (self._folder / name).resolve()
        root.mkdir()
        log = self._folder / f"{name}.log"
        log.touch()
        environment = os.environ | {
            "LD_PRELOAD": str(self._library),
            "RECORD_WRITES_ROOT": str(root),
            "RECORD_WRITES_LOG": str(log),
        }
        module, *arguments = command
        subprocess.run(
            [sys.executable, "-m", module, root, *arguments],
            env=environment,
            cwd=_CHECKOUT,
            check=True,
            timeout=_TIMEOUT_S,
        )
        return Recording(root, list(_read_log(log.read_bytes(), root)))


def mark(value: object) -> None:
    """In a recorded program: add a JSON value to the recording, at the current position."""
    ctypes.CDLL(None).record_mark(json.dumps(value).encode())


def _read_log(log: bytes, root: Path) -> Iterator[Operation]:
    position = 0

    def read(length: int) -> bytes:
        nonlocal position
        position += length
        return log[position - length : position]

    def read_path(length: int) -> str:
        return os.path.relpath(os.fsdecode(read(length)), root) if length else ""

    while position < len(log):
        kind, path, target, data, file, offset = _HEADER.unpack(read(_HEADER.size))
        yield Operation(Kind(kind), read_path(path), read_path(target), file, offset, read(data))
