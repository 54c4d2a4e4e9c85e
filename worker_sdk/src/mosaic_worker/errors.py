"""The one kind of error that a worker raises for a person to read."""

from __future__ import annotations


class WorkerError(Exception):
    """The world is not as it must be: `message` says how, `remedy` what to do about it.

    Raised inside a worker it ends the run as failed, and both sentences reach the run's page.
    Everything else that is raised is a bug and is shown with its traceback.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class ConfigError(WorkerError):
    """A run was asked for in a way that cannot work; `field` names the part to change."""

    def __init__(self, field: str, problem: str, *, remedy: str) -> None:
        super().__init__(f"{field}: {problem}", remedy=remedy)
        self.field = field
