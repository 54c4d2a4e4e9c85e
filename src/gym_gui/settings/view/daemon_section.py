"""DaemonSection: address, state and limits of the daemon, and its restart."""

import time

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.model.daemon_fields import DAEMON_FIELDS
from gym_gui.settings.model.settings_model import SettingsModel
from gym_gui.settings.view.field_row import NumberField, SectionFrame
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.styling import set_disabled_reason

_INFO_LABELS = ("Address", "Process", "Version", "Running since", "Encryption")

_UNKNOWN_SETTINGS = "The daemon does not answer; its settings are unknown."


class DaemonSection(SectionFrame):
    def __init__(
        self, model: SettingsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "Daemon",
            "Background process that trains and records. It continues when this window is closed.",
            parent,
        )
        self._model = model
        self._state = Badge("", "plain", theme)
        self._restart = QPushButton("Restart")
        self._restart.setToolTip("Restart the daemon. Runs continue; the window reconnects.")
        set_icon(self._restart, "refresh", theme)
        self._restart.clicked.connect(model.restart_daemon)
        header = QHBoxLayout()
        header.addWidget(self._state)
        header.addStretch()
        header.addWidget(self._restart)
        self.add(header)
        self._banner = Banner(theme)
        self.add(self._banner)
        self._info = {name: QLabel() for name in _INFO_LABELS}
        self.add(self._info_grid())
        self._fields = [NumberField(field) for field in DAEMON_FIELDS]
        for row in self._fields:
            row.box.editingFinished.connect(
                lambda row=row: model.set_daemon_value(row.field, row.box.value)
            )
            self.add(row)
        model.changed.connect(self._show)
        self._show()

    def _info_grid(self) -> QGridLayout:
        line = self.fontMetrics().height()
        grid = QGridLayout()
        grid.setHorizontalSpacing(line)
        grid.setVerticalSpacing(line // 4)
        grid.setColumnStretch(1, 1)
        for index, (name, value) in enumerate(self._info.items()):
            label = QLabel(name)
            label.setProperty("role", "muted")
            label.setFixedWidth(line * 9)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setWordWrap(True)
            value.setAccessibleName(name)
            grid.addWidget(label, index, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, index, 1)
        return grid

    def _show(self) -> None:
        model = self._model
        self._state.show_text(model.state_text, "good" if model.is_ready else "warning")
        set_disabled_reason(
            self._restart, "The daemon is restarting." if model.is_restarting else ""
        )
        health, view = model.health, model.daemon
        if health is not None:
            self._info["Address"].setText(health.address)
            self._info["Process"].setText(str(health.pid))
            self._info["Version"].setText(health.version)
            self._info["Running since"].setText(
                time.strftime("%Y-%m-%d %H:%M", time.localtime(health.started_at))
            )
        if view is not None:
            self._info["Encryption"].setText(
                f"TLS with {view.tls_certificate}"
                if view.tls_certificate
                else "none; only this machine can connect. For remote access, start it with"
                " --tls-certificate and --tls-key."
            )
        for row in self._fields:
            set_disabled_reason(row, "" if view is not None else _UNKNOWN_SETTINGS)
            row.show_value(model.stored(row.field.name), model.problems.get(row.field.name, ""))
        self._show_waiting()

    def _show_waiting(self) -> None:
        waiting = self._model.waiting
        if not waiting or self._model.is_restarting:
            self._banner.clear()
            return
        message = f"Takes effect after a daemon restart: {', '.join(waiting)}."
        if message != self._banner.message or self._banner.isHidden():
            self._banner.show_message(
                message, "warning", [("Restart now", self._model.restart_daemon)]
            )
