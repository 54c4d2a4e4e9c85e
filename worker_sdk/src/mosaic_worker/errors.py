"""Exceptions whose message and remedy are shown to the user."""

from __future__ import annotations

ACTOR_REJECTED = "W142"
"""The requested actor cannot act here; the current one stays."""

COMMAND_REJECTED = "W144"
"""A command was rejected, because of its fields or the state of the session."""


class WorkerError(Exception):
    """An expected failure: `message` says what is wrong, `remedy` what to do about it.

    Raised inside a worker it ends the run as failed, and both texts appear on the run's page. Any
    other exception is a bug and is shown with its traceback.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class ConfigError(WorkerError):
    """The configuration of the run is invalid; `field` names the value to change."""

    def __init__(self, field: str, problem: str, *, remedy: str) -> None:
        super().__init__(f"{field}: {problem}", remedy=remedy)
        self.field = field


class CommandError(WorkerError):
    """A command is rejected and the session continues. Any other error ends the run."""

    def __init__(self, message: str, *, remedy: str = "", code: str = COMMAND_REJECTED) -> None:
        super().__init__(message, remedy=remedy)
        self.code = code

    @classmethod
    def from_error(cls, error: WorkerError, code: str = COMMAND_REJECTED) -> CommandError:
        return cls(error.message, remedy=error.remedy, code=code)
