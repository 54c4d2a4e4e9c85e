"""A failed call as an error that a person can read. Called wherever a call may fail."""

from urllib.parse import unquote

import grpc

from mosaic.client.errors import (
    DaemonUnreachableError,
    TooSlowError,
    TrainerError,
    VersionMismatchError,
    WrongTokenError,
)

_REMEDY_KEY = "mosaic-remedy"
_CODE_KEY = "mosaic-code"

UNREACHABLE_REMEDY = "Start one with `mosaic daemon start`."
_OTHER_HOME_REMEDY = (
    "Use the token in the file trainer/token of the daemon's home; check --home and MOSAIC_HOME."
)

# CANCELLED: what a daemon on its way out does to the calls that it still has.
_CONNECTION_LOST = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


def readable(error: grpc.RpcError, where: str) -> TrainerError:
    """`error` in words; `where` says which daemon was asked."""
    status = error.code()
    said = (error.details() or "").strip()
    sent = {item.key: str(item.value) for item in error.trailing_metadata() or ()}
    remedy, code = unquote(sent.get(_REMEDY_KEY, "")), sent.get(_CODE_KEY, "")
    name = status.name
    if status in _CONNECTION_LOST:
        return DaemonUnreachableError(
            said if code else f"No trainer daemon answers at {where}.",
            remedy=remedy or UNREACHABLE_REMEDY,
            code=code,
            status=name,
        )
    if status is grpc.StatusCode.UNAUTHENTICATED:
        message = f"The daemon at {where} does not accept the token."
        return WrongTokenError(message, remedy=remedy or _OTHER_HOME_REMEDY, status=name)
    if status is grpc.StatusCode.DEADLINE_EXCEEDED and not code:
        message = f"The daemon at {where} did not answer in time."
        remedy = "Try again; `mosaic daemon status` says whether it is well."
        return TooSlowError(message, remedy=remedy, status=name)
    if status is grpc.StatusCode.UNIMPLEMENTED:
        return VersionMismatchError(
            f"The daemon at {where} does not know this call: it is of another version.",
            remedy="Run `mosaic daemon stop`, then `mosaic daemon start`. Runs go on meanwhile.",
            status=name,
        )
    return TrainerError(
        said or f"The daemon answered {name}.",
        remedy=remedy or ("" if code else "The daemon's log under logs/ of the home says more."),
        code=code,
        status=name,
    )
