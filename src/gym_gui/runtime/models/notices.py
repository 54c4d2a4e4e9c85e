"""Notices: passing messages for the person, with at most one thing to do about each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mosaic.contract.errors import UserError

Tone = Literal["plain", "good", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class Notice:
    """Shown for a while. `action` is the text of the button that calls `run`."""

    message: str
    tone: Tone = "plain"
    action: str = ""
    run: Callable[[], None] | None = None
    topic: str = ""
    """Shown at once, in place of what was said on the topic before."""
    stays_ms: int = 0
    """How long; 0: as long as others of its tone."""


class Notices(QObject):
    """Whoever has something to say puts it here; the window shows it. Made once, by the wiring."""

    posted = Signal(object)
    withdrawn = Signal(str)
    """A topic on which nothing is to be said any more."""

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
        stays_ms: int = 0,
    ) -> None:
        """With something to do about it: Undo, Show, Retry."""
        self.posted.emit(Notice(message, tone, action, run, topic, stays_ms))

    def withdraw(self, topic: str) -> None:
        """What was said on the topic does not hold any more."""
        self.withdrawn.emit(topic)

    def fail(
        self, error: UserError, action: str = "", run: Callable[[], None] | None = None
    ) -> None:
        """What happened, and what to do next."""
        self.posted.emit(Notice(f"{error.message} {error.remedy}".strip(), "bad", action, run))
