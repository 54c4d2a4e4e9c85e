"""SettingsModel: everything on the settings page, of the window and of the daemon.

What is changed is saved at once, and a notice offers to take it back.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.embedded_choice import EmbeddedChoice
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.theme_model import ThemeChoice, ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from gym_gui.settings.feed import restart_daemon
from gym_gui.settings.model.daemon_fields import DAEMON_FIELDS, STORAGE_FIELDS, DaemonField, Number
from gym_gui.settings.model.secrets_model import SecretsModel
from mosaic.contract.daemon_settings import SettingsView
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_size
from mosaic.contract.readiness import DaemonHealth
from mosaic.contract.storage import PruneReport, RetentionStatus

THEME_KEY = "appearance/theme"
INTEGER_SCALING_KEY = "appearance/integer_scaling"
CACHE_MB_KEY = "replay/cache_mb"
DEFAULT_CACHE_MB = 256
CACHE_FIELD = DaemonField(
    CACHE_MB_KEY,
    "Replay cache",
    "Memory for pictures of the episode that is replayed. More of it makes scrubbing in long "
    "episodes quicker.",
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
    LinkState.LOOKING: "connecting",
    LinkState.READY: "running",
    LinkState.LOST: "not answering",
    LinkState.FAILED: "not running",
    LinkState.CLOSED: "disconnected",
}


class Memory(Protocol):
    """As much of the settings store as is needed here."""

    def text(self, key: str, default: str = "") -> str: ...
    def number(self, key: str, default: int) -> int: ...
    def flag(self, key: str, default: bool) -> bool: ...
    def keep(self, key: str, value: str | int | bool) -> None: ...


class SettingsModel(QObject):
    """Made once, by the wiring, which reads the first theme from it by having it made."""

    changed = Signal()
    integer_scaling_changed = Signal(bool)
    cache_changed = Signal(int)
    """To so many MB."""
    layout_reset_wanted = Signal()

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        notices: Notices,
        settings: Memory,
        theme: ThemeModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.dashboards = EmbeddedChoice(settings, self)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._memory = settings
        self._theme = theme
        self.secrets = SecretsModel(link, tasks, notices, self)
        self.daemon: SettingsView | None = None
        self.retention: RetentionStatus | None = None
        self.problems: dict[str, str] = {}
        """What is wrong with what was typed, by the name of the field."""
        self.is_restarting = False
        self.is_freeing = False
        for choice, _ in THEMES:
            if settings.text(THEME_KEY) == choice:
                theme.choose(choice)
        link.connected.connect(self.refresh)
        link.recovered.connect(self.refresh)
        link.changed.connect(self.changed)

    def refresh(self) -> None:
        """Ask the daemon again: when the page is shown, and when a daemon is back."""
        if not self._link.has_client:
            return
        client = self._link.client
        self._tasks.run(self, client.settings, self._show_daemon, _is_unreachable)
        self._tasks.run(self, client.retention, self._show_retention, _is_unreachable)
        self.secrets.refresh()

    # This window.

    @property
    def home(self) -> Path:
        return self._link.home.path

    @property
    def theme_choice(self) -> ThemeChoice:
        return self._theme.choice

    def choose_theme(self, choice: ThemeChoice) -> None:
        before = self._theme.choice
        if choice != before:
            self._theme.choose(choice)
            self._memory.keep(THEME_KEY, choice)
            self._saved("Theme", lambda: self.choose_theme(before))

    @property
    def integer_scaling(self) -> bool:
        return self._memory.flag(INTEGER_SCALING_KEY, default=False)

    def set_integer_scaling(self, is_on: bool) -> None:
        if is_on != self.integer_scaling:
            self._memory.keep(INTEGER_SCALING_KEY, is_on)
            self.integer_scaling_changed.emit(is_on)
            self._saved("Picture scaling", lambda: self.set_integer_scaling(not is_on))

    @property
    def cache_mb(self) -> int:
        return self._memory.number(CACHE_MB_KEY, DEFAULT_CACHE_MB)

    def set_cache_mb(self, value: Number | str | None) -> None:
        if not self._accepts(CACHE_FIELD, value):
            return
        before, wanted = self.cache_mb, int(value or DEFAULT_CACHE_MB)
        if wanted != before:
            self._memory.keep(CACHE_MB_KEY, wanted)
            self.cache_changed.emit(wanted)
            self._saved(CACHE_FIELD.label, lambda: self.set_cache_mb(before))

    def reset_layout(self) -> None:
        self.layout_reset_wanted.emit()

    # The daemon.

    @property
    def is_ready(self) -> bool:
        return self._link.is_ready

    @property
    def state_text(self) -> str:
        """How the daemon is, in a word or two."""
        return "restarting" if self.is_restarting else _STATES[self._link.state]

    @property
    def health(self) -> DaemonHealth | None:
        return self._link.health

    def stored(self, name: str) -> Number | None:
        """What `settings.toml` says; None: the default."""
        value: Number | None = None if self.daemon is None else getattr(self.daemon.stored, name)
        return value

    def set_daemon_value(self, field: DaemonField, value: Number | str | None) -> None:
        """Save one of the daemon's settings; None is its default."""
        if not self._accepts(field, value) or isinstance(value, str) or not self._link.has_client:
            return
        before = self.stored(field.name)
        if self.daemon is None or value == before:
            return
        client = self._link.client

        def saved(view: SettingsView) -> None:
            self._show_daemon(view)
            later = field.name in view.after_restart
            self._saved(
                field.label,
                lambda: self.set_daemon_value(field, before),
                " It counts when the daemon starts again." if later else "",
            )
            self._tasks.run(self, client.retention, self._show_retention, _is_unreachable)

        self._tasks.run(
            self,
            lambda: client.change_settings(**{field.name: value}),
            saved,
            lambda error: self._on_refused(field, error),
        )

    @property
    def waiting(self) -> tuple[str, ...]:
        """Labels of what counts only when the daemon has started again."""
        if self.daemon is None:
            return ()
        labels = {field.name: field.label for field in (*STORAGE_FIELDS, *DAEMON_FIELDS)}
        return tuple(labels[name] for name in self.daemon.waiting)

    def restart_daemon(self) -> None:
        """Runs go on; the window finds the new one by itself."""
        home = self._link.home
        self.is_restarting = True
        self.changed.emit()
        self._tasks.run(self, lambda: restart_daemon(home), self._on_restarted, self._on_no_restart)

    # Room on the disk.

    def free_now(self) -> None:
        """Remove what the limits call for. This cannot be undone."""
        client = self._link.client
        self.is_freeing = True
        self.changed.emit()
        self._tasks.run(
            self, lambda: client.prune(dry_run=False), self._on_freed, self._on_not_freed
        )

    def _accepts(self, field: DaemonField, value: Number | str | None) -> bool:
        problem = field.problem(value)
        before = self.problems.pop(field.name, "")
        if problem:
            self.problems[field.name] = problem
        if problem != before:
            self.changed.emit()
        return not problem

    def _saved(self, what: str, undo: Callable[[], None], more: str = "") -> None:
        self.changed.emit()
        self._notices.offer(f"{what}: saved.{more}", "Undo", undo)

    def _show_daemon(self, view: SettingsView) -> None:
        self.daemon = view
        self.changed.emit()

    def _show_retention(self, retention: RetentionStatus) -> None:
        self.retention = retention
        self.changed.emit()

    def _on_refused(self, field: DaemonField, error: UserError) -> None:
        self.problems[field.name] = f"{error.message} {error.remedy}".strip()
        self.changed.emit()

    def _on_restarted(self, _: None) -> None:
        self.is_restarting = False
        self._notices.say("The daemon has started again.", tone="good")
        self.refresh()
        self.changed.emit()

    def _on_no_restart(self, error: UserError) -> None:
        self.is_restarting = False
        self._notices.fail(error, "Try again", self.restart_daemon)
        self.changed.emit()

    def _on_freed(self, report: PruneReport) -> None:
        self.is_freeing = False
        self._notices.say(f"{size_text(report.freed_bytes)} were freed.", tone="good")
        self.refresh()
        self.changed.emit()

    def _on_not_freed(self, error: UserError) -> None:
        self.is_freeing = False
        self._notices.fail(error)
        self.changed.emit()


size_text = format_size


def _is_unreachable(_: UserError) -> None:
    """The page shows that the daemon does not answer; it is asked again when it does."""
