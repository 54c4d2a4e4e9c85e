"""Notices: short messages for the user, each with at most one action."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mosaic.contract.errors import UserError

Tone = Literal["plain", "good", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class Notice:
    """`action` is the text of the button that calls `run`."""

    message: str
    tone: Tone = "plain"
    action: str = ""
    run: Callable[[], None] | None = None
    topic: str = ""
    """Replaces an earlier notice of the same topic immediately."""
    duration_ms: int = 0
    """0: the default of its tone."""


class Notices(QObject):
    """Models post notices, the window shows them. Created once, by the wiring."""

    posted = Signal(object)
    withdrawn = Signal(str)
    """The topic of notices to remove."""

    def post(self, message: str, *, tone: Tone = "plain") -> None:
        self.posted.emit(Notice(message, tone))

    def offer(
        self,
        message: str,
        action: str,
        run: Callable[[], None],
        *,
        tone: Tone = "plain",
        topic: str = "",
        duration_ms: int = 0,
    ) -> None:
        """Post a notice with an action, such as Undo, Show or Retry."""
        self.posted.emit(Notice(message, tone, action, run, topic, duration_ms))

    def withdraw(self, topic: str) -> None:
        """Remove the notice of a topic."""
        self.withdrawn.emit(topic)

    def post_error(
        self, error: UserError, action: str = "", run: Callable[[], None] | None = None
    ) -> None:
        """Post the message and the remedy of an error."""
        self.posted.emit(Notice(f"{error.message} {error.remedy}".strip(), "bad", action, run))
