"""Converts a failed gRPC call into a `TrainerError` with a message and a remedy."""

from urllib.parse import unquote

import grpc

from mosaic.client.errors import (
    CallTimeoutError,
    DaemonUnreachableError,
    InvalidTokenError,
    TrainerError,
    VersionMismatchError,
)

_REMEDY_KEY = "mosaic-remedy"
_CODE_KEY = "mosaic-code"

UNREACHABLE_REMEDY = "Start one with `mosaic daemon start`."
_OTHER_HOME_REMEDY = (
    "Use the token in the file trainer/token of the daemon's home, which is new at each start;"
    " check --home and MOSAIC_HOME."
)

# CANCELLED: a daemon that shuts down cancels its open calls.
_CONNECTION_LOST = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


def to_trainer_error(error: grpc.RpcError, address: str) -> TrainerError:
    """Return `error` as a `TrainerError`; `address` names the daemon that was called."""
    status = error.code()
    details = (error.details() or "").strip()
    metadata = {item.key: str(item.value) for item in error.trailing_metadata() or ()}
    remedy, code = unquote(metadata.get(_REMEDY_KEY, "")), metadata.get(_CODE_KEY, "")
    name = status.name
    if status in _CONNECTION_LOST:
        return DaemonUnreachableError(
            details if code else f"No trainer daemon answers at {address}.",
            remedy=remedy or UNREACHABLE_REMEDY,
            code=code,
            status=name,
        )
    if status is grpc.StatusCode.UNAUTHENTICATED:
        message = f"The daemon at {address} does not accept the token."
        return InvalidTokenError(message, remedy=remedy or _OTHER_HOME_REMEDY, status=name)
    if status is grpc.StatusCode.DEADLINE_EXCEEDED and not code:
        message = f"The daemon at {address} did not answer in time."
        remedy = "Try again; `mosaic daemon status` shows whether the daemon is healthy."
        return CallTimeoutError(message, remedy=remedy, status=name)
    if status is grpc.StatusCode.UNIMPLEMENTED:
        return VersionMismatchError(
            f"The daemon at {address} does not support this call: its version differs.",
            remedy="Run `mosaic daemon stop`, then `mosaic daemon start`. Runs keep running.",
            status=name,
        )
    return TrainerError(
        details or f"The daemon answered {name}.",
        remedy=remedy or ("" if code else "See the daemon's log under logs/ of the home."),
        code=code,
        status=name,
    )
