"""The token of a home: what a client must know to be served. Only its owner can read it."""

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
from mosaic.trainer.service.errors import Refusal, WrongTokenError, refusal_of
from mosaic.trainer.service.partial_servicer import Context

_log = logging.getLogger(__name__)

_TOKEN_BYTES = 32
_LEAST_LETTERS = 32
_OTHERS = 0o077


def load_token(path: Path) -> str:
    """The token in the file. One that others could have read, or that is damaged, is replaced."""
    try:
        _make(path)
        return _read(path) or _replaced(path)
    except OSError as error:
        raise UserError(
            f"The token {path} cannot be used: {error.strerror}.",
            remedy="Remove it, and see that this user can write to its folder.",
            code="T384",
        ) from error


def _make(path: Path) -> None:
    """Complete from its first moment on, and never in place of one that is there."""
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
    """None when it must not be used."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except PermissionError:
        raise
    except OSError:
        _log.warning("T385 %s is no ordinary file; a new token is made", path)
        return None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        os.close(descriptor)  # `fdopen` raises for a folder, and leaves it open
        _log.warning("T385 %s is no ordinary file; a new token is made", path)
        return None
    with os.fdopen(descriptor, "rb") as file:
        if status.st_mode & _OTHERS:
            _log.warning("T386 others could read %s; a new token is made", path)
            return None
        text = file.read(4096).decode("ascii", "replace").strip()
    if len(text) < _LEAST_LETTERS or not text.isascii() or not text.isprintable():
        _log.warning("T387 %s is damaged; a new token is made", path)
        return None
    return text


def _replaced(path: Path) -> str:
    path.unlink()
    _make(path)
    token = _read(path)
    if token is None:
        raise UserError(
            f"The token {path} changes under our hands.",
            remedy="See that nobody else writes to that folder.",
            code="T388",
        )
    return token


_KEY = "authorization"
_SCHEME = b"Bearer "


class TokenCheck(grpc.aio.ServerInterceptor):
    """Lets nothing pass without the token; first of all interceptors."""

    def __init__(self, token: str) -> None:
        self._expected = _SCHEME + token.encode()
        self._refusing = _handler_that_refuses(refusal_of(WrongTokenError(), lambda text: text))

    async def intercept_service(
        self,
        continuation: Continuation,
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "Handler | None":
        sent = [value for key, value in handler_call_details.invocation_metadata if key == _KEY]
        if len(sent) == 1 and hmac.compare_digest(_as_bytes(sent[0]), self._expected):
            return await continuation(handler_call_details)
        return self._refusing


def _as_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode(errors="surrogateescape")


def _handler_that_refuses(refusal: Refusal) -> Handler:
    """Of streams in both directions: it fits any call, and reads nothing of the request."""

    async def refuse(_: Any, context: Context) -> None:
        await abort(context, refusal)

    return grpc.stream_stream_rpc_method_handler(refuse)
