"""Errors of calls: how each becomes a gRPC status, and those that the service itself raises.

`call_interceptor.py` calls `to_rpc_error` for every call that fails. The status has a canonical
code, a message, and a remedy in the trailing metadata. Secrets, control characters and excess
length are removed here.
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
from mosaic.trainer.artifacts.archive_format import (
    ArchiveError,
    NoRoomError,
    RunDirectoryExistsError,
)
from mosaic.trainer.processes.control_channel import ControlChannelFullError
from mosaic.trainer.registry.errors import (
    InvalidFieldError,
    PageTokenError,
    RequestIdReusedError,
    RunExistsError,
    UnknownRunError,
)
from mosaic.trainer.service.request_checks import BadRequestError, printable
from mosaic.trainer.simulation.errors import TOO_MANY_SIMULATIONS
from mosaic.trainer.storage.errors import (
    InvalidCheckpointError,
    StoragePageTokenError,
    UnknownCheckpointError,
)

_log = logging.getLogger(__name__)

BUG = "T374"
"""A call failed because of a bug in the daemon; the log has the traceback."""
WRONG_TOKEN = "T376"  # noqa: S105 - a log code
"""A call does not carry the token of the home."""
DAEMON_STOPPING = "T375"
"""The daemon stops while a stream is open."""
RUN_DELETED = "T377"
"""A run was deleted while it was being read."""
UNKNOWN_EPISODE = "T378"
"""A run has no such episode."""
UPLOAD_INTERRUPTED = "T380"
"""An upload stopped before its end."""

REMEDY_KEY = "mosaic-remedy"
CODE_KEY = "mosaic-code"

# gRPC rejects metadata over 8 KiB, counted after percent-encoding.
_MAX_MESSAGE_LENGTH = 2_000
_MAX_MESSAGE_LENGTH_ENCODED = 4_500
_MAX_REMEDY_LENGTH = 600
_MAX_REMEDY_LENGTH_ENCODED = 2_000

_STATUS_BY_CLASS: dict[type[UserError], grpc.StatusCode] = {
    BadRequestError: grpc.StatusCode.INVALID_ARGUMENT,
    DocumentError: grpc.StatusCode.INVALID_ARGUMENT,
    InvalidFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    PageTokenError: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownRunError: grpc.StatusCode.NOT_FOUND,
    UnknownCheckpointError: grpc.StatusCode.NOT_FOUND,
    InvalidCheckpointError: grpc.StatusCode.INVALID_ARGUMENT,
    StoragePageTokenError: grpc.StatusCode.INVALID_ARGUMENT,
    ArchiveError: grpc.StatusCode.INVALID_ARGUMENT,
    RunDirectoryExistsError: grpc.StatusCode.ALREADY_EXISTS,
    RunExistsError: grpc.StatusCode.ALREADY_EXISTS,
    RequestIdReusedError: grpc.StatusCode.ALREADY_EXISTS,
    NoRoomError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    ControlChannelFullError: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_STATUS_BY_CODE = {
    WRONG_TOKEN: grpc.StatusCode.UNAUTHENTICATED,
    DAEMON_STOPPING: grpc.StatusCode.UNAVAILABLE,
    RUN_DELETED: grpc.StatusCode.NOT_FOUND,
    UNKNOWN_EPISODE: grpc.StatusCode.NOT_FOUND,
    UPLOAD_INTERRUPTED: grpc.StatusCode.ABORTED,
    TOO_MANY_SIMULATIONS: grpc.StatusCode.RESOURCE_EXHAUSTED,
    "T130": grpc.StatusCode.NOT_FOUND,  # unknown worker
}
"""All other errors, such as a run in the wrong state, are FAILED_PRECONDITION."""
_DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT)


def wrong_token() -> UserError:
    return UserError(
        "The call does not carry the token of this daemon's home.",
        remedy="Send `authorization: Bearer …` with the content of trainer/token in that home;"
        " check --home and MOSAIC_HOME.",
        code=WRONG_TOKEN,
    )


def daemon_stopping() -> UserError:
    return UserError(
        "The daemon is stopping. Runs continue without it.",
        remedy="Start it again with `mosaic daemon start`; the stream continues where it stopped.",
        code=DAEMON_STOPPING,
    )


def run_deleted(run_id: str) -> UserError:
    return UserError(
        f"Run {run_id} was deleted while it was being read.",
        remedy="`mosaic runs list` shows all runs.",
        code=RUN_DELETED,
    )


def unknown_episode(run_id: str, episode: int) -> UserError:
    return UserError(
        f"Run {run_id} has no episode {episode}.",
        remedy=f"`mosaic telemetry {run_id} episodes` shows the stored episodes.",
        code=UNKNOWN_EPISODE,
    )


def upload_interrupted(reason: str) -> UserError:
    return UserError(
        f"The upload was interrupted: {reason}.",
        remedy="Nothing of it was stored. Import it again.",
        code=UPLOAD_INTERRUPTED,
    )


def unsafe_file(run_id: str, name: str) -> UserError:
    return UserError(
        f"{name} of run {run_id} is not read, because it is not a regular file.",
        remedy="Something replaced it, perhaps by a link; remove it from the run's directory.",
        code="T371",
    )


class RpcError(NamedTuple):
    """The status that a failed call ends with."""

    status: grpc.StatusCode
    message: str
    metadata: tuple[tuple[str, str], ...]


def to_rpc_error(error: Exception, redact: Callable[[str], str]) -> RpcError:
    """The status for `error`; anything but a `UserError` or a full disk is logged as a bug."""
    if isinstance(error, UserError):
        return _rpc_error(_status_of(error), error, redact)
    if _is_disk_full(error):
        full = UserError(
            f"The disk is full: {error}.",
            remedy="Free some disk space and try again.",
            code="T373",
        )
        return _rpc_error(grpc.StatusCode.RESOURCE_EXHAUSTED, full, redact)
    _log.error("%s a call failed because of a bug", BUG, exc_info=error)
    bug = UserError(
        "A bug in the daemon; see var/logs/daemon.log.",
        remedy=f"Please report it with the lines around {BUG}. The daemon and its runs continue.",
        code=BUG,
    )
    return _rpc_error(grpc.StatusCode.INTERNAL, bug, redact)


def _status_of(error: UserError) -> grpc.StatusCode:
    cause: BaseException | None = error
    while cause is not None:
        if _is_disk_full(cause):
            return grpc.StatusCode.RESOURCE_EXHAUSTED
        cause = cause.__cause__
    if error.code in _STATUS_BY_CODE:
        return _STATUS_BY_CODE[error.code]
    for kind in type(error).__mro__:
        if kind in _STATUS_BY_CLASS:
            return _STATUS_BY_CLASS[kind]
    return grpc.StatusCode.FAILED_PRECONDITION


def _is_disk_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _DISK_FULL_ERRNOS
    return isinstance(error, sqlite3.Error) and (
        getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
    )


def _rpc_error(status: grpc.StatusCode, error: UserError, redact: Callable[[str], str]) -> RpcError:
    message = _shorten(redact(error.message), _MAX_MESSAGE_LENGTH, _MAX_MESSAGE_LENGTH_ENCODED)
    remedy = _shorten(redact(error.remedy), _MAX_REMEDY_LENGTH, _MAX_REMEDY_LENGTH_ENCODED)
    metadata = [(REMEDY_KEY, quote(remedy))]
    if error.code:
        metadata.append((CODE_KEY, error.code))
    return RpcError(status, message, tuple(metadata))


def _shorten(text: str, max_length: int, max_encoded: int) -> str:
    text = printable(text)
    cut = text[:max_length]
    while len(quote(cut)) > max_encoded:
        cut = cut[: len(cut) * 3 // 4]
    return cut if cut == text else f"{cut.rstrip()} …"
