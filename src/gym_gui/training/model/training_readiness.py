"""TrainingReadiness: the preflight report of the current configuration, and bundle installation.

Owned by `TrainingModel`, which passes each configuration to `check`. Requests are debounced; a
report of an earlier configuration is dropped.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.services import Services
from gym_gui.runtime.stream_thread import StreamThread
from gym_gui.training.feed.launching import start_install
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import CheckStatus, InstallProgress, PreflightReport

_DEBOUNCE_S = 0.35


@dataclass(frozen=True, slots=True)
class InstallStatus:
    """Progress of a bundle that is being installed."""

    bundle: str
    text: str
    fraction: float | None
    """From 0 to 1; None: unknown."""


class TrainingReadiness(QObject):
    """UI thread only."""

    changed = Signal()
    rejected = Signal(object)
    """A `UserError`: the daemon rejected the configuration."""
    installed = Signal()

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self.report: PreflightReport | None = None
        """The newest report; of an earlier configuration while `is_checking`."""
        self.is_checking = False
        self.problem: UserError | None = None
        """Why the check failed."""
        self.installation: InstallStatus | None = None
        self._document: Mapping[str, Any] | None = None
        self._due: float | None = None
        self._request_id = 0
        self._install: StreamThread[InstallProgress] | None = None
        self._closed_threads: list[threading.Thread] = []
        services.ticker.subscribe(self, self._on_tick)

    @property
    def is_current(self) -> bool:
        """Whether the report is of the newest configuration."""
        return self.report is not None and not self.is_checking

    @property
    def warning_count(self) -> int:
        """Number of warnings in the newest report."""
        items = self.report.items if self.report else ()
        return sum(item.status is CheckStatus.WARNING for item in items)

    def check(self, document: Mapping[str, Any] | None) -> None:
        """Run preflight soon. None: the form is invalid, so there is nothing to check."""
        self._request_id += 1
        self._document = document
        self.problem = None
        self.is_checking = document is not None
        self._due = time.monotonic() + _DEBOUNCE_S if document is not None else None
        if document is None:
            self.report = None
        self._services.ticker.wake()
        self.changed.emit()

    def check_again(self) -> None:
        self.check(self._document)

    def install(self, argument: str, *, is_repair: bool) -> None:
        """Start to install a bundle, such as `cleanrl_worker[atari]`."""
        if self._install is None and self._services.link.has_client:
            self.installation = InstallStatus(argument, "Waiting to start", None)
            self._install = start_install(
                self._services.link.client,
                argument,
                is_repair=is_repair,
                wake=self._services.ticker.wake,
            )
            self.changed.emit()

    def close(self) -> None:
        self._due = None
        self._request_id += 1
        self._stop_install()

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (*self._closed_threads, *((self._install.thread,) if self._install else ()))

    def _on_tick(self) -> bool:
        is_installing = self._poll_install()
        if self._due is None:
            return is_installing
        if (
            time.monotonic() >= self._due
            and self._services.link.has_client
            and self._document is not None
        ):
            self._due = None
            request_id, document = self._request_id, self._document
            self._services.call(
                self,
                lambda client: client.preflight(document),
                lambda report: self._on_report(request_id, report),
                lambda error: self._on_failure(request_id, error),
            )
        return True

    def _on_report(self, request_id: int, report: PreflightReport) -> None:
        if request_id == self._request_id:
            self.is_checking = False
            self.report = report
            self.changed.emit()

    def _on_failure(self, request_id: int, error: UserError) -> None:
        if request_id == self._request_id:
            self.is_checking = False
            self.report = None
            self.problem = error
            self.rejected.emit(error)
            self.changed.emit()

    def _poll_install(self) -> bool:
        stream = self._install
        if stream is None:
            return False
        updates = stream.drain()
        if updates and self.installation is not None:
            newest = updates[-1]
            self.installation = InstallStatus(
                self.installation.bundle, _progress_text(newest), _fraction(newest)
            )
            self.changed.emit()
        if stream.is_finished and not updates:
            self._on_install_finished(stream.error)
        return True

    def _on_install_finished(self, error: UserError | None) -> None:
        name = self.installation.bundle if self.installation else ""
        self._stop_install()
        if error is None:
            self._services.notices.post(f"The bundle {name} is installed.", tone="good")
        else:
            self._services.notices.post_error(error)
        self.installed.emit()
        self.check_again()

    def _stop_install(self) -> None:
        if self._install is not None:
            self._install.close()
            self._closed_threads = [thread for thread in self._closed_threads if thread.is_alive()]
            self._closed_threads.append(self._install.thread)
            self._install = None
        self.installation = None


def _progress_text(progress: InstallProgress) -> str:
    count = f" ({progress.done} of {progress.total})" if progress.total else ""
    return f"{progress.phase.capitalize()}{count}" + (
        f": {progress.message}" if progress.message else ""
    )


def _fraction(progress: InstallProgress) -> float | None:
    return min(1.0, progress.done / progress.total) if progress.total else None
