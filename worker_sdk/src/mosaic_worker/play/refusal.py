"""A command that is not obeyed: the session goes on as it was, and an answer says why."""

from __future__ import annotations

from mosaic_worker.errors import WorkerError

ACTOR_REFUSED = "W142"
"""Another actor was asked for and cannot act; the one before acts on."""

COMMAND_REFUSED = "W144"
"""A command was not obeyed, because of what it says or when it came."""


class RefusedError(WorkerError):
    """Raised while a command is obeyed. Every other error ends the run."""

    def __init__(self, message: str, *, remedy: str = "", code: str = COMMAND_REFUSED) -> None:
        super().__init__(message, remedy=remedy)
        self.code = code

    @classmethod
    def because(cls, error: WorkerError, code: str = COMMAND_REFUSED) -> RefusedError:
        return cls(error.message, remedy=error.remedy, code=code)
