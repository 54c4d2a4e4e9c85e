"""Errors as gRPC tells them: a canonical code, a sentence, and a remedy in the trailing metadata.

Called at the edge of every call. Secrets, control characters and excess length never pass.
"""

import errno
import logging
import sqlite3
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

import grpc

from mosaic.contract.errors import UserError
from mosaic.contract.problems import DocumentError
from mosaic.trainer.artifacts import archive_format
from mosaic.trainer.artifacts.archive_format import ArchiveError, NoRoomError
from mosaic.trainer.processes.control_channel import ControlChannelFullError
from mosaic.trainer.registry.errors import (
    PageTokenError,
    RefusedFieldError,
    RequestIdReusedError,
    RunExistsError,
    UnknownRunError,
)
from mosaic.trainer.service.request_checks import BadRequestError, printable
from mosaic.trainer.simulation.errors import TooManySimulationsError
from mosaic.trainer.storage.errors import (
    CheckpointRefusedError,
    StoragePageTokenError,
    UnknownCheckpointError,
)


class WrongTokenError(UserError):
    """A call came without the token of the home."""

    def __init__(self) -> None:
        super().__init__(
            "The call does not carry the token of this daemon's home.",
            remedy="Send `authorization: Bearer …` with the content of trainer/token in that home;"
            " check --home and MOSAIC_HOME.",
            code="T376",
        )


class DaemonStoppingError(UserError):
    """The daemon goes while a stream is open."""

    def __init__(self) -> None:
        super().__init__(
            "The daemon is stopping. Runs go on without it.",
            remedy="Start it again with `mosaic daemon start`; the stream goes on where it was.",
            code="T375",
        )


class RunDeletedError(UserError):
    """A run went while somebody read it."""

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"Run {run_id} was deleted while it was being read.",
            remedy="`mosaic runs list` shows the runs there are.",
            code="T377",
        )


class NoSuchEpisodeError(UserError):
    """The run has not begun this episode."""

    def __init__(self, run_id: str, episode: int) -> None:
        super().__init__(
            f"Run {run_id} has no episode {episode}.",
            remedy=f"`mosaic telemetry {run_id} episodes` shows those that are stored.",
            code="T378",
        )


class NotInstalledError(UserError):
    """What a worker needs to run is not there yet."""

    def __init__(self, worker: str, bundle: str) -> None:
        super().__init__(
            f"{worker} cannot be tried out: its bundle '{bundle}' is not installed.",
            remedy=f"Run `mosaic bundles install {bundle}`, then try again.",
            code="T379",
        )


class InterruptedTransferError(UserError):
    """What a client sends stopped coming before its end."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"What was to be imported did not arrive: {reason}.",
            remedy="Nothing of it was kept. Import it again.",
            code="T380",
        )


class UnsafeFileError(UserError):
    """A file of a run's directory is not what the daemon would have made there."""

    def __init__(self, run_id: str, name: str) -> None:
        super().__init__(
            f"{name} of run {run_id} is not read, because it is no ordinary file.",
            remedy="Something replaced it, perhaps by a link; remove it from the run's directory.",
            code="T371",
        )


_log = logging.getLogger(__name__)

BUG = "T374"
"""A call failed by a bug in the daemon; the log has the traceback."""
REMEDY_KEY = "mosaic-remedy"
CODE_KEY = "mosaic-code"

# gRPC refuses metadata over 8 KiB, counted after percent-encoding.
_LONGEST_MESSAGE = 2_000
_LONGEST_MESSAGE_ENCODED = 4_500
_LONGEST_REMEDY = 600
_LONGEST_REMEDY_ENCODED = 2_000

_CODES: dict[type[UserError], grpc.StatusCode] = {
    BadRequestError: grpc.StatusCode.INVALID_ARGUMENT,
    DocumentError: grpc.StatusCode.INVALID_ARGUMENT,
    RefusedFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    PageTokenError: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownRunError: grpc.StatusCode.NOT_FOUND,
    RunDeletedError: grpc.StatusCode.NOT_FOUND,
    NoSuchEpisodeError: grpc.StatusCode.NOT_FOUND,
    UnknownCheckpointError: grpc.StatusCode.NOT_FOUND,
    CheckpointRefusedError: grpc.StatusCode.INVALID_ARGUMENT,
    StoragePageTokenError: grpc.StatusCode.INVALID_ARGUMENT,
    ArchiveError: grpc.StatusCode.INVALID_ARGUMENT,
    archive_format.RunExistsError: grpc.StatusCode.ALREADY_EXISTS,
    RunExistsError: grpc.StatusCode.ALREADY_EXISTS,
    RequestIdReusedError: grpc.StatusCode.ALREADY_EXISTS,
    NoRoomError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    ControlChannelFullError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    TooManySimulationsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    WrongTokenError: grpc.StatusCode.UNAUTHENTICATED,
    DaemonStoppingError: grpc.StatusCode.UNAVAILABLE,
    InterruptedTransferError: grpc.StatusCode.ABORTED,
}
"""All others, such as a run in the wrong state, are FAILED_PRECONDITION."""
_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT)


class Refusal(NamedTuple):
    """How a call ends that was not carried out."""

    status: grpc.StatusCode
    message: str
    metadata: tuple[tuple[str, str], ...]


def refusal_of(error: Exception, redact: Callable[[str], str]) -> Refusal:
    """What a client is told of `error`; what is not meant for a person is logged as a bug."""
    if isinstance(error, UserError):
        return _refusal(_status_of(error), error, redact)
    if _says_disk_full(error):
        full = UserError(
            f"The disk is full: {error}.",
            remedy="Free some disk space and try again.",
            code="T373",
        )
        return _refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, full, redact)
    _log.error("%s a call failed by a bug", BUG, exc_info=error)
    bug = UserError(
        "A bug in the daemon; see var/logs/daemon.log.",
        remedy=f"Please report it with the lines around {BUG}. The daemon and its runs go on.",
        code=BUG,
    )
    return _refusal(grpc.StatusCode.INTERNAL, bug, redact)


def _status_of(error: UserError) -> grpc.StatusCode:
    cause: BaseException | None = error
    while cause is not None:
        if _says_disk_full(cause):
            return grpc.StatusCode.RESOURCE_EXHAUSTED
        cause = cause.__cause__
    if error.code == "T130":  # a worker of that name
        return grpc.StatusCode.NOT_FOUND
    for kind in type(error).__mro__:
        if kind in _CODES:
            return _CODES[kind]
    return grpc.StatusCode.FAILED_PRECONDITION


def _says_disk_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _FULL_ERRNOS
    return isinstance(error, sqlite3.Error) and (
        getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
    )


def _refusal(status: grpc.StatusCode, error: UserError, redact: Callable[[str], str]) -> Refusal:
    message = _shortened(redact(error.message), _LONGEST_MESSAGE, _LONGEST_MESSAGE_ENCODED)
    remedy = _shortened(redact(error.remedy), _LONGEST_REMEDY, _LONGEST_REMEDY_ENCODED)
    metadata = [(REMEDY_KEY, quote(remedy))]
    if error.code:
        metadata.append((CODE_KEY, error.code))
    return Refusal(status, message, tuple(metadata))


def _shortened(text: str, most: int, most_encoded: int) -> str:
    text = printable(text)
    cut = text[:most]
    while len(quote(cut)) > most_encoded:
        cut = cut[: len(cut) * 3 // 4]
    return cut if cut == text else f"{cut.rstrip()} …"
