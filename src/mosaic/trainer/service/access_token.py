"""The access token of a home: loading it, and checking it on every call.

Only its owner can read the file.
"""

import hmac
import logging
import os
import secrets
import stat
from pathlib import Path
from typing import Any

import grpc

from mosaic.contract.errors import UserError
from mosaic.trainer.service.call_interceptor import Continuation, Handler, abort
from mosaic.trainer.service.errors import RpcError, to_rpc_error, wrong_token
from mosaic.trainer.service.partial_servicer import Context

_log = logging.getLogger(__name__)

_TOKEN_BYTES = 32
_MIN_LENGTH = 32
_OTHERS_MASK = 0o077


def load_token(path: Path) -> str:
    """The token in the file; replaced if it is damaged or other users could read it."""
    try:
        _create(path)
        return _read(path) or _replace(path)
    except OSError as error:
        raise UserError(
            f"The token {path} cannot be used: {error.strerror}.",
            remedy="Remove it, and make its folder writable for this user.",
            code="T384",
        ) from error


def _create(path: Path) -> None:
    """Create the file atomically, unless it exists."""
    if path.exists() or path.is_symlink():
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(_TOKEN_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _read(path: Path) -> str | None:
    """The token; None if the file must not be used."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:
        raise
    except OSError:
        _log.warning("T385 %s is not a regular file; creating a new token", path)
        return None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        os.close(descriptor)  # `fdopen` raises for a folder, and leaves it open
        _log.warning("T385 %s is not a regular file; creating a new token", path)
        return None
    with os.fdopen(descriptor, "rb") as file:
        if status.st_mode & _OTHERS_MASK:
            _log.warning("T386 other users could read %s; creating a new token", path)
            return None
        text = file.read(4096).decode("ascii", "replace").strip()
    if len(text) < _MIN_LENGTH or not text.isascii() or not text.isprintable():
        _log.warning("T387 %s is damaged; creating a new token", path)
        return None
    return text


def _replace(path: Path) -> str:
    path.unlink()
    _create(path)
    token = _read(path)
    if token is None:
        raise UserError(
            f"The token {path} was changed while it was created.",
            remedy="Make sure that no other program writes to that folder.",
            code="T388",
        )
    return token


_KEY = "authorization"
_SCHEME = b"Bearer "


class TokenCheck(grpc.aio.ServerInterceptor):
    """Rejects every call without the token. Must be the first interceptor."""

    def __init__(self, token: str) -> None:
        self._expected = _SCHEME + token.encode()
        self._reject_handler = _make_reject_handler(to_rpc_error(wrong_token(), lambda text: text))

    async def intercept_service(
        self,
        continuation: Continuation,
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        sent = [value for key, value in handler_call_details.invocation_metadata if key == _KEY]
        if len(sent) == 1 and hmac.compare_digest(_as_bytes(sent[0]), self._expected):
            return await continuation(handler_call_details)
        return self._reject_handler


def _as_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode(errors="surrogateescape")


def _make_reject_handler(rpc_error: RpcError) -> Handler:
    """A bidirectional stream handler: it fits any call, and does not read the request."""

    async def reject(_: Any, context: Context) -> None:
        await abort(context, rpc_error)

    return grpc.stream_stream_rpc_method_handler(reject)
