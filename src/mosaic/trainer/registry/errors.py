"""Errors of the registry. The service maps each class to a gRPC status."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState

PRIMARY_CODE_MASK = 0xFF
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MAX_QUOTED_LENGTH = 60


def quote_text(text: str) -> str:
    """`text` of a client for a message: short, and without control characters."""
    cut = text[:_MAX_QUOTED_LENGTH] + ("…" if len(text) > _MAX_QUOTED_LENGTH else "")
    return "".join(character if character.isprintable() else "�" for character in cut)


class UnknownRunError(UserError):
    """There is no run with this id."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"There is no run '{quote_text(run_id)}'.",
            remedy="`mosaic runs list` shows the ids of all runs.",
            code="T310",
        )


class StateConflictError(UserError):
    """The transition is not allowed in the run's state, which is `current`."""

    def __init__(self, run_id: str, current: RunState, target: RunState) -> None:
        super().__init__(
            f"Run {run_id} is {current} and cannot become {target}.",
            remedy=f"`mosaic runs show {run_id}` shows its history.",
            code="T311",
        )
        self.current = current


class RequestIdReusedError(UserError):
    """The request id was used for another configuration."""

    def __init__(self, request_id: str, run_id: str) -> None:
        super().__init__(
            f"The request id '{quote_text(request_id)}' was used for run {run_id} with another"
            " configuration.",
            remedy="Submit with a new request id; each submission needs its own.",
            code="T312",
        )


class InvalidFieldError(UserError):
    """A user's text for a run is invalid; `field` names it."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"`{field}` {problem}", remedy=remedy, code="T313")
        self.field = field


class PageTokenError(UserError):
    """The page token does not belong to this list."""

    def __init__(self) -> None:
        super().__init__(
            "The page token does not belong to this list of runs.",
            remedy="Request the first page again, and keep the filters for all pages.",
            code="T314",
        )


class RegistryUnavailableError(UserError):
    """The file cannot be read or written. Nothing was changed."""

    def __init__(self, path: Path, error: Exception, remedy: str) -> None:
        super().__init__(
            f"The registry of runs {path} cannot be used: {error}.", remedy=remedy, code="T315"
        )


class RunExistsError(UserError):
    """A run with this id already exists."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id} is already in the registry.",
            remedy=f"Delete it first (`mosaic runs delete {run_id}`) to replace it.",
            code="T318",
        )


_REMEDIES = {
    sqlite3.SQLITE_FULL: "Free some disk space and try again.",
    sqlite3.SQLITE_BUSY: "Close the other program that has the file open, and try again.",
    sqlite3.SQLITE_LOCKED: "Close the other program that has the file open, and try again.",
    sqlite3.SQLITE_READONLY: "Make the file and its folder writable for this user.",
    sqlite3.SQLITE_PERM: "Make the file and its folder writable for this user.",
    sqlite3.SQLITE_CANTOPEN: "Make sure that it is a file in a folder that this user can write to.",
    sqlite3.SQLITE_IOERR: "Check the disk that holds it, and that it is not full.",
    sqlite3.SQLITE_CORRUPT: "Restart the daemon: it rebuilds the registry from the runs.",
    sqlite3.SQLITE_NOTADB: "Restart the daemon: it rebuilds the registry from the runs.",
}


@contextmanager
def explain_file_errors(path: Path) -> Iterator[None]:
    """Turn errors of the file into `RegistryUnavailableError`; bugs pass through."""
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
    """SQLite's primary result code; 0 for an error of the Python module."""
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE_MASK
