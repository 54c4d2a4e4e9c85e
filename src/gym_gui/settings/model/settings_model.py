"""SettingsModel: settings of the window and of the daemon.

Changes are saved immediately, and a notice offers to undo them.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.embedded_choice import EmbeddedChoice
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeChoice, ThemeModel
from gym_gui.runtime.trainer_link import LinkState, restart_daemon
from gym_gui.settings.model.daemon_fields import DAEMON_FIELDS, STORAGE_FIELDS, DaemonField, Number
from gym_gui.settings.model.secrets_model import SecretsModel
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_size
from mosaic.contract.readiness import DaemonHealth
from mosaic.contract.settings_view import SettingsView
from mosaic.contract.storage import PruneReport, RetentionStatus

THEME_KEY = "appearance/theme"
INTEGER_SCALING_KEY = "appearance/integer_scaling"
CACHE_MB_KEY = "replay/cache_mb"
DEFAULT_CACHE_MB = 256
CACHE_FIELD = DaemonField(
    CACHE_MB_KEY,
    "Replay cache",
    "Memory for frames of the replayed episode. Default: 256.",
    "int",
    16,
    65_536,
    "MB",
)
THEMES: tuple[tuple[ThemeChoice, str], ...] = (
    ("system", "System"),
    ("light", "Light"),
    ("dark", "Dark"),
)


_STATES = {
    LinkState.CONNECTING: "connecting",
    LinkState.READY: "running",
    LinkState.LOST: "not answering",
    LinkState.FAILED: "not running",
    LinkState.CLOSED: "disconnected",
}


class SettingsModel(QObject):
    """Created by `Models`. The constructor applies the saved theme."""

    changed = Signal()
    integer_scaling_changed = Signal(bool)
    cache_changed = Signal(int)
    """New size in MB."""
    layout_reset_requested = Signal()

    def __init__(
        self, services: Services, theme: ThemeModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.dashboards = EmbeddedChoice(services.settings, self)
        self._services = services
        self._store = services.settings
        self._theme = theme
        self.secrets = SecretsModel(services, self)
        self.daemon: SettingsView | None = None
        self.retention: RetentionStatus | None = None
        self.problems: dict[str, str] = {}
        """Validation errors, by field name."""
        self.is_restarting = False
        self.is_freeing = False
        for choice, _ in THEMES:
            if services.settings.text(THEME_KEY) == choice:
                theme.choose(choice)
        services.link.connected.connect(self.refresh)
        services.link.recovered.connect(self.refresh)
        services.link.changed.connect(self.changed)

    def refresh(self) -> None:
        """Read the settings of the daemon."""
        if not self._services.link.has_client:
            return
        client = self._services.link.client
        self._services.tasks.run(self, client.settings, self._show_daemon, _ignore_error)
        self._services.tasks.run(self, client.retention, self._show_retention, _ignore_error)
        self.secrets.refresh()

    # Window settings.

    @property
    def home(self) -> Path:
        return self._services.link.home.path

    @property
    def theme_choice(self) -> ThemeChoice:
        return self._theme.choice

    def choose_theme(self, choice: ThemeChoice) -> None:
        before = self._theme.choice
        if choice != before:
            self._theme.choose(choice)
            self._store.set(THEME_KEY, choice)
            self._saved("Theme", lambda: self.choose_theme(before))

    @property
    def integer_scaling(self) -> bool:
        return self._store.flag(INTEGER_SCALING_KEY, default=False)

    def set_integer_scaling(self, is_on: bool) -> None:
        if is_on != self.integer_scaling:
            self._store.set(INTEGER_SCALING_KEY, is_on)
            self.integer_scaling_changed.emit(is_on)
            self._saved("Frame scaling", lambda: self.set_integer_scaling(not is_on))

    @property
    def cache_mb(self) -> int:
        return self._store.number(CACHE_MB_KEY, DEFAULT_CACHE_MB)

    def set_cache_mb(self, value: Number | str | None) -> None:
        if not self._accepts(CACHE_FIELD, value):
            return
        before, requested = self.cache_mb, int(value or DEFAULT_CACHE_MB)
        if requested != before:
            self._store.set(CACHE_MB_KEY, requested)
            self.cache_changed.emit(requested)
            self._saved(CACHE_FIELD.label, lambda: self.set_cache_mb(before))

    def reset_layout(self) -> None:
        self.layout_reset_requested.emit()

    # Daemon settings.

    @property
    def is_ready(self) -> bool:
        return self._services.link.is_ready

    @property
    def state_text(self) -> str:
        """State of the daemon as one or two words."""
        return "restarting" if self.is_restarting else _STATES[self._services.link.state]

    @property
    def health(self) -> DaemonHealth | None:
        return self._services.link.health

    def stored(self, name: str) -> Number | None:
        """The value in `settings.toml`; None for the default."""
        value: Number | None = None if self.daemon is None else getattr(self.daemon.stored, name)
        return value

    def set_daemon_value(self, field: DaemonField, value: Number | str | None) -> None:
        """Save a daemon setting; None resets it to the default."""
        if (
            not self._accepts(field, value)
            or isinstance(value, str)
            or not self._services.link.has_client
        ):
            return
        before = self.stored(field.name)
        if self.daemon is None or value == before:
            return
        client = self._services.link.client

        def saved(view: SettingsView) -> None:
            self._show_daemon(view)
            later = field.name in view.after_restart
            self._saved(
                field.label,
                lambda: self.set_daemon_value(field, before),
                " Takes effect after a daemon restart." if later else "",
            )
            self._services.tasks.run(self, client.retention, self._show_retention, _ignore_error)

        self._services.tasks.run(
            self,
            lambda: client.change_settings(**{field.name: value}),
            saved,
            lambda error: self._on_rejected(field, error),
        )

    @property
    def waiting(self) -> tuple[str, ...]:
        """Labels of settings that need a daemon restart."""
        if self.daemon is None:
            return ()
        labels = {field.name: field.label for field in (*STORAGE_FIELDS, *DAEMON_FIELDS)}
        return tuple(labels[name] for name in self.daemon.waiting)

    def restart_daemon(self) -> None:
        """Restart the daemon. Runs continue, and the window reconnects."""
        home = self._services.link.home
        self.is_restarting = True
        self.changed.emit()
        self._services.tasks.run(
            self, lambda: restart_daemon(home), self._on_restarted, self._on_restart_failed
        )

    # Disk space.

    def free_now(self) -> None:
        """Remove files above the limits. This cannot be undone."""
        self.is_freeing = True
        self.changed.emit()
        self._services.call(
            self, lambda client: client.prune(dry_run=False), self._on_freed, self._on_free_failed
        )

    def _accepts(self, field: DaemonField, value: Number | str | None) -> bool:
        problem = field.problem(value)
        before = self.problems.pop(field.name, "")
        if problem:
            self.problems[field.name] = problem
        if problem != before:
            self.changed.emit()
        return not problem

    def _saved(self, label: str, undo: Callable[[], None], more: str = "") -> None:
        self.changed.emit()
        self._services.notices.offer(f"{label}: saved.{more}", "Undo", undo)

    def _show_daemon(self, view: SettingsView) -> None:
        self.daemon = view
        self.changed.emit()

    def _show_retention(self, retention: RetentionStatus) -> None:
        self.retention = retention
        self.changed.emit()

    def _on_rejected(self, field: DaemonField, error: UserError) -> None:
        self.problems[field.name] = f"{error.message} {error.remedy}".strip()
        self.changed.emit()

    def _on_restarted(self, _: None) -> None:
        self.is_restarting = False
        self._services.notices.post("The daemon was restarted.", tone="good")
        self.refresh()
        self.changed.emit()

    def _on_restart_failed(self, error: UserError) -> None:
        self.is_restarting = False
        self._services.notices.post_error(error, "Try again", self.restart_daemon)
        self.changed.emit()

    def _on_freed(self, report: PruneReport) -> None:
        self.is_freeing = False
        self._services.notices.post(f"{size_text(report.freed_bytes)} freed.", tone="good")
        self.refresh()
        self.changed.emit()

    def _on_free_failed(self, error: UserError) -> None:
        self.is_freeing = False
        self._services.notices.post_error(error)
        self.changed.emit()


size_text = format_size


def _ignore_error(_: UserError) -> None:
    """The page already shows that the daemon does not answer."""
