"""What can go wrong between a client and the daemon. Imports no gRPC, so anyone may catch these."""

from mosaic.contract.errors import UserError


class TrainerError(UserError):
    """The daemon refused a call or could not carry it out."""

    default_code = "C162"

    def __init__(self, message: str, *, remedy: str, code: str = "", status: str = "") -> None:
        super().__init__(message, remedy=remedy, code=code or self.default_code)
        self.status = status
        """gRPC's name for what happened, such as `NOT_FOUND`; empty when no call was made."""


class DaemonUnreachableError(TrainerError):
    """No daemon answers."""

    default_code = "C160"


class WrongTokenError(TrainerError):
    """The daemon does not accept the token."""

    default_code = "C161"


class TooSlowError(TrainerError):
    """The daemon did not answer in time."""

    default_code = "C163"


class DaemonStartError(TrainerError):
    """The daemon could not be started in the background."""

    default_code = "C164"


class DaemonStopError(TrainerError):
    """The daemon was told to stop and is still there."""

    default_code = "C165"


class RunReferenceError(TrainerError):
    """What was given names no run, or more than one."""

    default_code = "C166"


class VersionMismatchError(TrainerError):
    """The daemon does not know the call: it is of another version."""

    default_code = "C167"


class ArchiveFileError(TrainerError):
    """The file of an exported run cannot be read or written."""

    default_code = "C168"


class WaitTimeoutError(TrainerError):
    """A run was not over within the time that the caller allowed."""

    default_code = "C169"
