"""TrainingReadiness: the live check list of a draft: preflight, and bundles being installed.

Owned by `TrainingModel`, which tells it each configuration. A little after the last change the
daemon is asked; an answer to an earlier configuration is dropped.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.stream_thread import StreamThread
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.training.feed.launching import Launcher
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import CheckStatus, InstallProgress, PreflightReport

_SETTLES_AFTER_S = 0.35


@dataclass(frozen=True, slots=True)
class Installing:
    """How far a bundle is, in words and as a share."""

    bundle: str
    words: str
    share: float | None
    """From 0 to 1; None: not known."""


class TrainingReadiness(QObject):
    """All of it is for the UI thread."""

    changed = Signal()
    refused = Signal(object)
    """A `UserError`: the daemon does not take the configuration."""
    installed = Signal()

    def __init__(
        self, launcher: Launcher, ticker: UiTicker, notices: Notices, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._launcher = launcher
        self._ticker = ticker
        self._notices = notices
        self.report: PreflightReport | None = None
        """The newest answer; of an earlier configuration while `is_checking`."""
        self.is_checking = False
        self.problem: UserError | None = None
        """Why the daemon could not be asked."""
        self.installing: Installing | None = None
        self._document: Mapping[str, Any] | None = None
        self._due: float | None = None
        self._ticket = 0
        self._install: StreamThread[InstallProgress] | None = None
        self._past: list[threading.Thread] = []
        ticker.subscribe(self, self._on_tick)

    @property
    def is_current(self) -> bool:
        """The report is that of the configuration which was told last."""
        return self.report is not None and not self.is_checking

    @property
    def warning_count(self) -> int:
        """What is to be known of the newest report, though it is in nobody's way."""
        items = self.report.items if self.report else ()
        return sum(item.status is CheckStatus.WARNING for item in items)

    def look_at(self, document: Mapping[str, Any] | None) -> None:
        """None: there is nothing to check, because fields are wrong."""
        self._ticket += 1
        self._document = document
        self.problem = None
        self.is_checking = document is not None
        self._due = time.monotonic() + _SETTLES_AFTER_S if document is not None else None
        if document is None:
            self.report = None
        self._ticker.wake()
        self.changed.emit()

    def check_again(self) -> None:
        self.look_at(self._document)

    def install(self, argument: str, *, is_repair: bool) -> None:
        """Begin to install a bundle, such as `cleanrl_worker[atari]`."""
        if self._install is None and self._launcher.can_ask:
            self.installing = Installing(argument, "Waiting to begin", None)
            self._install = self._launcher.install(
                argument, is_repair=is_repair, wake=self._ticker.wake
            )
            self.changed.emit()

    def close(self) -> None:
        self._due = None
        self._ticket += 1
        self._end_install()

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._past, *((self._install.thread,) if self._install else ()))

    def _on_tick(self) -> bool:
        was_busy = self._follow_install()
        if self._due is None:
            return was_busy
        if time.monotonic() >= self._due and self._launcher.can_ask and self._document is not None:
            self._due = None
            ticket = self._ticket
            self._launcher.preflight(
                self,
                self._document,
                lambda report: self._take(ticket, report),
                lambda error: self._fail(ticket, error),
            )
        return True

    def _take(self, ticket: int, report: PreflightReport) -> None:
        if ticket == self._ticket:
            self.is_checking = False
            self.report = report
            self.changed.emit()

    def _fail(self, ticket: int, error: UserError) -> None:
        if ticket == self._ticket:
            self.is_checking = False
            self.report = None
            self.problem = error
            self.refused.emit(error)
            self.changed.emit()

    def _follow_install(self) -> bool:
        stream = self._install
        if stream is None:
            return False
        told = stream.drain()
        if told and self.installing is not None:
            self.installing = Installing(
                self.installing.bundle, _progress_words(told[-1]), _share(told[-1])
            )
            self.changed.emit()
        if stream.is_finished and not told:
            self._on_install_over(stream.error)
        return True

    def _on_install_over(self, error: UserError | None) -> None:
        name = self.installing.bundle if self.installing else ""
        self._end_install()
        if error is None:
            self._notices.post(f"The bundle {name} is ready.", tone="good")
        else:
            self._notices.fail(error)
        self.installed.emit()
        self.check_again()

    def _end_install(self) -> None:
        if self._install is not None:
            self._install.close()
            self._past = [thread for thread in self._past if thread.is_alive()]
            self._past.append(self._install.thread)
            self._install = None
        self.installing = None


def _progress_words(progress: InstallProgress) -> str:
    count = f" ({progress.done} of {progress.total})" if progress.total else ""
    return f"{progress.phase.capitalize()}{count}" + (
        f": {progress.message}" if progress.message else ""
    )


def _share(progress: InstallProgress) -> float | None:
    return min(1.0, progress.done / progress.total) if progress.total else None
