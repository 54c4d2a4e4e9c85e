"""Errors between a client and the daemon. Does not import gRPC, so any module may catch these."""

from typing import TYPE_CHECKING

from mosaic.client.former_names import resolve_former_names
from mosaic.contract.errors import UserError


class TrainerError(UserError):
    """The daemon rejected a call or could not execute it."""

    default_code = "C162"

    def __init__(self, message: str, *, remedy: str, code: str = "", status: str = "") -> None:
        super().__init__(message, remedy=remedy, code=code or self.default_code)
        self.status = status
        """Name of the gRPC status, such as `NOT_FOUND`; empty if no call was made."""


class DaemonUnreachableError(TrainerError):
    """No daemon answers."""

    default_code = "C160"


class InvalidTokenError(TrainerError):
    """The daemon does not accept the token."""

    default_code = "C161"


class UntrustedEndpointError(TrainerError):
    """Another process or user listens where the daemon should; the token was not sent."""

    default_code = "C193"


class CallTimeoutError(TrainerError):
    """The daemon did not answer in time."""

    default_code = "C163"


class DaemonStartError(TrainerError):
    """The daemon could not be started in the background."""

    default_code = "C164"


class DaemonStopError(TrainerError):
    """The daemon is still running after it was asked to stop."""

    default_code = "C165"


class RunReferenceError(TrainerError):
    """The reference matches no run, or more than one."""

    default_code = "C166"


class VersionMismatchError(TrainerError):
    """The daemon does not support the call: its version differs."""

    default_code = "C167"


class ArchiveFileError(TrainerError):
    """The file of an exported run cannot be read or written."""

    default_code = "C168"


class WaitTimeoutError(TrainerError):
    """The run did not reach the expected state within the timeout."""

    default_code = "C169"


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)
