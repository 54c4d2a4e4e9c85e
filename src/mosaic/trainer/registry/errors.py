"""What the registry refuses, and what can keep it from working, in words.

Every error here is for the person who asked; the service gives each its status code by its class.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState

PRIMARY_CODE_MASK = 0xFF
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MAX_QUOTED_LENGTH = 60


def shown(text: str) -> str:
    """`text` from a client as it may stand in a message: short, and nothing a terminal obeys."""
    cut = text[:_MAX_QUOTED_LENGTH] + ("…" if len(text) > _MAX_QUOTED_LENGTH else "")
    return "".join(letter if letter.isprintable() else "�" for letter in cut)


class UnknownRunError(UserError):
    """No run has this id."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"There is no run '{shown(run_id)}'.",
            remedy="`mosaic runs list` shows the ids of all runs.",
            code="T310",
        )


class StateConflictError(UserError):
    """The run is not in a state from which this can be done; `current` is the one it is in."""

    def __init__(self, run_id: str, current: RunState, wanted: RunState) -> None:
        super().__init__(
            f"Run {run_id} is {current} and cannot become {wanted}.",
            remedy=f"`mosaic runs show {run_id}` shows how it came to that.",
            code="T311",
        )
        self.current = current


class RequestIdReusedError(UserError):
    """The request id belongs to another configuration."""

    def __init__(self, request_id: str, run_id: str) -> None:
        super().__init__(
            f"The request id '{shown(request_id)}' was used for run {run_id}, which has another"
            " configuration.",
            remedy="Submit with a new request id; one id stands for one submission.",
            code="T312",
        )


class InvalidFieldError(UserError):
    """A text that a person gave for a run is not allowed; `field` names it."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"`{field}` {problem}", remedy=remedy, code="T313")
        self.field = field


class PageTokenError(UserError):
    """The page token is none of this list."""

    def __init__(self) -> None:
        super().__init__(
            "The page token does not belong to this list of runs.",
            remedy="Ask for the first page again, and keep the filters while going through pages.",
            code="T314",
        )


class RegistryUnavailableError(UserError):
    """The world keeps the registry from reading or writing. Nothing was changed."""

    def __init__(self, path: Path, error: Exception, remedy: str) -> None:
        super().__init__(
            f"The registry of runs {path} cannot be used: {error}.", remedy=remedy, code="T315"
        )


class NewerRegistryError(UserError):
    """The registry was written by a later version of this program, and is left as it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The registry of runs {path} was written by a newer version of MOSAIC.",
            remedy="Update MOSAIC, or move the file away to have it made again from the runs.",
            code="T316",
        )


class RunExistsError(UserError):
    """A run with this id is there already."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id} is in the registry already.",
            remedy=f"Delete it first (`mosaic runs delete {run_id}`) to have it replaced.",
            code="T318",
        )


_REMEDIES = {
    sqlite3.SQLITE_FULL: "Free some disk space and try again.",
    sqlite3.SQLITE_BUSY: "Close the other program that has the file open, and try again.",
    sqlite3.SQLITE_LOCKED: "Close the other program that has the file open, and try again.",
    sqlite3.SQLITE_READONLY: "Make the file and its folder writable for this user.",
    sqlite3.SQLITE_PERM: "Make the file and its folder writable for this user.",
    sqlite3.SQLITE_CANTOPEN: "See that it is a file in a folder that this user can write to.",
    sqlite3.SQLITE_IOERR: "Check the disk that holds it, and that it is not full.",
    sqlite3.SQLITE_CORRUPT: "Restart the daemon: it makes the registry again from the runs.",
    sqlite3.SQLITE_NOTADB: "Restart the daemon: it makes the registry again from the runs.",
}


@contextmanager
def world_errors_explained(path: Path) -> Iterator[None]:
    """Turns what the world does to the file into `RegistryUnavailableError`; bugs pass through."""
    try:
        yield
    except sqlite3.Error as error:
        remedy = _REMEDIES.get(primary_code(error))
        if remedy is None:
            raise
        raise RegistryUnavailableError(path, error, remedy) from error
    except OSError as error:
        remedy = _REMEDIES[sqlite3.SQLITE_CANTOPEN]
        raise RegistryUnavailableError(path, error, remedy) from error


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its details; 0 for an error of the Python module."""
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE_MASK
