"""SettingsPage: all settings on one page, with a list of topics in a wide window."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import cast

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeChoice, ThemeModel
from gym_gui.settings.model.daemon_fields import STORAGE_FIELDS
from gym_gui.settings.model.secrets_model import SecretsModel
from gym_gui.settings.model.settings_model import CACHE_FIELD, THEMES, SettingsModel, size_text
from gym_gui.settings.view.daemon_section import DaemonSection
from gym_gui.settings.view.field_row import ConfirmStrip, FieldRow, NumberField, SectionFrame
from gym_gui.settings.view.secret_row import SecretRow
from gym_gui.settings.view.usage_bar import UsageBar
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.key_cap import KeyCap
from gym_gui.widgets.styling import set_disabled_reason


class AppearanceSection(SectionFrame):
    def __init__(
        self, model: SettingsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__("Appearance", parent=parent)
        self._model = model
        self._theme_choice = SegmentedControl(THEMES, theme)
        self._theme_choice.activated.connect(
            lambda choice: model.choose_theme(cast("ThemeChoice", choice))
        )
        self.add(FieldRow("Theme", self._theme_choice, "System follows the theme of the desktop."))
        self._scaling = QCheckBox("Integer scaling")
        self._scaling.clicked.connect(model.set_integer_scaling)
        self.add(
            FieldRow(
                "Frames",
                self._scaling,
                "Scale frames by integer factors. Otherwise they fill the view.",
            )
        )
        self._embedded = QCheckBox("Open inside this window")
        self._embedded.clicked.connect(model.dashboards.set_on)
        self._embedded.setEnabled(not model.dashboards.disabled_reason)
        self._embedded.setToolTip(model.dashboards.disabled_reason)
        self.add(
            FieldRow(
                "Dashboards",
                self._embedded,
                model.dashboards.disabled_reason
                or "Show TensorBoard and W&&B in this window instead of the browser.",
            )
        )
        reset = QPushButton("Reset layout")
        reset.clicked.connect(model.reset_layout)
        self.add(FieldRow("Layout", reset, "Restore the default positions of all panels."))
        model.changed.connect(self._show)
        model.dashboards.changed.connect(self._show)
        theme.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        self._theme_choice.set_current(self._model.theme_choice)
        self._scaling.setChecked(self._model.integer_scaling)
        self._embedded.setChecked(self._model.dashboards.is_on)


class HomeSection(SectionFrame):
    open_requested = Signal(str)

    def __init__(
        self, model: SettingsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__("Home", parent=parent)
        self._model = model
        path = QLabel(str(model.home))
        path.setProperty("role", "mono")
        path.setWordWrap(True)
        path.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        path.setAccessibleName("Home folder")
        folder = QPushButton("Open folder")
        set_icon(folder, "folder", theme)
        folder.clicked.connect(lambda: self.open_requested.emit(str(model.home)))
        row = QHBoxLayout()
        row.addWidget(path, 1)
        row.addWidget(folder)
        self.add(row)
        self._use = QLabel()
        self.add(self._use)
        self._bar = UsageBar(theme)
        self.add(self._bar)
        other = QLabel(
            "Contains runs, checkpoints, settings and keys. To use another folder, start with"
            " <b>mosaic --home</b> FOLDER or set <b>MOSAIC_HOME</b>."
        )
        other.setWordWrap(True)
        other.setProperty("role", "caption")
        self.add(other)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        retention, health = self._model.retention, self._model.health
        self._bar.setVisible(retention is not None)
        if retention is None:
            self._use.setText("Measuring disk usage.")
            return
        total = sum(usage.size_bytes for usage in retention.used)
        free = f", {size_text(health.disk_free_bytes)} free on the disk" if health else ""
        self._use.setText(f"{size_text(total)} in use{free}")
        self._bar.show_use(retention.used)


class SecretsSection(SectionFrame):
    def __init__(
        self, model: SecretsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "Keys",
            "Stored in trainer/secrets.env of this home with private permissions, and passed only"
            " to workers that request them.",
            parent,
        )
        self._model = model
        self._theme = theme
        self._rows: dict[str, SecretRow] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(self.fontMetrics().height())
        self._waiting = QLabel("Waiting for the daemon to list the keys.")
        self._waiting.setProperty("role", "muted")
        self.add(self._waiting)
        self.add(self._list)
        self.add(self._other_key())
        model.changed.connect(self._show)
        self._show()

    def _other_key(self) -> FieldRow:
        editor = QWidget()
        self._name = QLineEdit()
        self._name.setPlaceholderText("NAME_OF_THE_KEY")
        self._name.setAccessibleName("Name of another key")
        self._value = QLineEdit()
        self._value.setEchoMode(QLineEdit.EchoMode.Password)
        self._value.setPlaceholderText("Paste the key")
        self._value.setAccessibleName("Value of another key")
        add = QPushButton("Add")
        add.clicked.connect(self._add)
        self._value.returnPressed.connect(self._add)
        layout = QHBoxLayout(editor)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._name)
        layout.addWidget(self._value)
        layout.addWidget(add)
        editor.setFocusProxy(self._name)
        self._other = FieldRow(
            "Another key",
            editor,
            "Name and value of an environment variable of your worker.",
        )
        return self._other

    def _add(self) -> None:
        name, value = self._name.text().strip().upper(), self._value.text().strip()
        if not (name.isascii() and name.isidentifier()) or not value:
            self._other.show_problem("Enter a name of letters, digits and _, and a value.")
            return
        self._other.show_problem("")
        self._name.clear()
        self._value.clear()
        self._model.set_secret(name, value)

    def _show(self) -> None:
        self._waiting.setVisible(not self._model.is_known)
        set_disabled_reason(
            self._other, "" if self._model.is_known else "The daemon does not answer."
        )
        known = {secret.name for secret in self._model.secrets}
        for name in [name for name in self._rows if name not in known]:
            self._rows.pop(name).deleteLater()
        for index, secret in enumerate(self._model.secrets):
            row = self._rows.get(secret.name)
            if row is None:
                row = self._rows[secret.name] = SecretRow(secret, self._theme)
                row.value_submitted.connect(self._model.set_secret)
                row.removal_confirmed.connect(self._model.remove)
                self._list.insertWidget(index, row)
            row.show_secret(secret, self._model.problems.get(secret.name, ""))
        other_errors = [text for name, text in self._model.problems.items() if name not in known]
        if other_errors:
            self._other.show_problem(other_errors[-1])


_ROWS_PER_TICK = 8


class ShortcutsSection(SectionFrame):
    """`shortcuts` are pairs of command text and keys, such as `Ctrl+Shift+P`."""

    def __init__(
        self,
        shortcuts: Sequence[tuple[str, str]],
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Keyboard", parent=parent)
        line = self.fontMetrics().height()
        grid = QGridLayout()
        grid.setHorizontalSpacing(line)
        grid.setVerticalSpacing(line // 3)
        grid.setColumnStretch(2, 1)
        self.add(grid)
        # Add a few rows per iteration of the event loop, to keep the window responsive.
        remaining = iter(tuple(enumerate(shortcuts)))
        QTimer.singleShot(0, self, lambda: self._add_batch(grid, remaining, theme))

    def _add_batch(
        self, grid: QGridLayout, remaining: Iterator[tuple[int, tuple[str, str]]], theme: ThemeModel
    ) -> None:
        batch = list(islice(remaining, _ROWS_PER_TICK))
        for index, (text, keys) in batch:
            label = QLabel(text)
            label.setMinimumWidth(label.fontMetrics().height() * 13)
            grid.addWidget(label, index, 0)
            grid.addWidget(_caps(keys, theme), index, 1, Qt.AlignmentFlag.AlignLeft)
        if batch:
            QTimer.singleShot(0, self, lambda: self._add_batch(grid, remaining, theme))


def _caps(keys: str, theme: ThemeModel) -> QWidget:
    container = QWidget()
    container.setAccessibleName(keys)
    layout = QHBoxLayout(container)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(container.fontMetrics().height() // 4)
    # A trailing `+` is the key itself.
    names = keys.removesuffix("+").split("+") if keys.endswith("++") else keys.split("+")
    for name in (key or "+" for key in names):
        layout.addWidget(KeyCap(name, theme))
    return container


_UNKNOWN_SETTINGS = "The daemon does not answer; its settings are unknown."


class StorageSection(SectionFrame):
    def __init__(self, model: SettingsModel, parent: QWidget | None = None) -> None:
        super().__init__("Storage", parent=parent)
        self._model = model
        self._fields = [NumberField(field) for field in STORAGE_FIELDS]
        for row in self._fields:
            row.box.editingFinished.connect(
                lambda row=row: model.set_daemon_value(row.field, row.box.value)
            )
            self.add(row)
        self._prune = ConfirmStrip("Free now…", "", "Free space")
        self._prune.confirmed.connect(model.free_now)
        self._free_row = FieldRow("Above limits", self._prune, fills=True)
        self.add(self._free_row)
        self._cache = NumberField(CACHE_FIELD)
        self._cache.box.editingFinished.connect(lambda: model.set_cache_mb(self._cache.box.value))
        self.add(self._cache)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        model = self._model
        for row in self._fields:
            set_disabled_reason(row, "" if model.daemon is not None else _UNKNOWN_SETTINGS)
            row.show_value(model.stored(row.field.name), model.problems.get(row.field.name, ""))
        self._cache.show_value(model.cache_mb, model.problems.get(CACHE_FIELD.name, ""))
        retention = model.retention
        items = 0 if retention is None else retention.prunable_items
        size = size_text(0 if retention is None else retention.prunable_bytes)
        reason = "Files are being removed." if model.is_freeing else ""
        set_disabled_reason(
            self._prune, reason or ("" if items else "No finished run exceeds the limits.")
        )
        self._prune.button.setText(f"Free {size}…" if items else "Nothing to free")
        self._prune.set_question(
            f"Remove {items:,} files of {size}: videos, older checkpoints and tracking folders of"
            " finished runs? This cannot be undone."
        )


_MAX_CONTENT_WIDTH = 46
_MIN_WIDTH_WITH_TOPICS = 48
"""In font heights."""


class SettingsPage(QWidget):
    """Shows `SettingsModel`; refreshed when shown. `open_requested` has a folder to open."""

    open_requested = Signal(str)

    def __init__(
        self,
        model: SettingsModel,
        theme: ThemeModel,
        shortcuts: Sequence[tuple[str, str]] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        home = HomeSection(model, theme)
        home.open_requested.connect(self.open_requested)
        self._sections: list[SectionFrame] = [
            home,
            AppearanceSection(model, theme),
            StorageSection(model),
            DaemonSection(model, theme),
            SecretsSection(model.secrets, theme),
        ]
        if shortcuts:
            self._sections.append(ShortcutsSection(shortcuts, theme))
        self._topics = QListWidget()
        self._topics.setAccessibleName("Settings topics")
        for section in self._sections:
            item = QListWidgetItem(section.title, self._topics)
            # The default size hint uses the style before the page is polished.
            item.setSizeHint(QSize(0, round(self.fontMetrics().height() * 1.9)))
        self._topics.setCurrentRow(0)
        self._topics.setFixedWidth(self.fontMetrics().height() * 9)
        self._topics.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setAccessibleName("Settings")
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._content = self._make_content()
        self._area.setWidget(self._content)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._topics)
        layout.addWidget(self._area, 1)
        self._topics.itemSelectionChanged.connect(self._go_to_topic)
        self._area.verticalScrollBar().valueChanged.connect(self._show_topic)

    def show_topic(self, title: str) -> None:
        """Scroll to a topic, such as “Keys”."""
        titles = [section.title for section in self._sections]
        self._topics.setCurrentRow(titles.index(title))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._topics.setVisible(
            self.width() >= self.fontMetrics().height() * _MIN_WIDTH_WITH_TOPICS
        )

    def _make_content(self) -> QWidget:
        line = self.fontMetrics().height()
        column = QWidget()
        column.setMaximumWidth(line * _MAX_CONTENT_WIDTH)
        rows = QVBoxLayout(column)
        rows.setContentsMargins(line * 3 // 2, line, line * 3 // 2, line * 2)
        rows.setSpacing(line * 5 // 4)
        for index, section in enumerate(self._sections):
            if index:
                rows.addWidget(_rule())
            rows.addWidget(section)
        rows.addStretch()
        content = QWidget()
        row = QHBoxLayout(content)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(column, 1)
        row.addStretch()
        return content

    def _go_to_topic(self) -> None:
        row = self._topics.currentRow()
        if row >= 0:
            self._area.verticalScrollBar().setValue(
                self._top_of(self._sections[row]) - self.fontMetrics().height()
            )

    def _show_topic(self) -> None:
        """Select the visible topic in the list without scrolling."""
        bar = self._area.verticalScrollBar()
        position = bar.value() + 2 * self.fontMetrics().height()
        row = max(sum(self._top_of(section) <= position for section in self._sections) - 1, 0)
        if bar.value() >= bar.maximum():
            # The last topics cannot be scrolled to the top, so keep the selection.
            row = max(row, self._topics.currentRow())
        self._topics.blockSignals(True)
        self._topics.setCurrentRow(row)
        self._topics.blockSignals(False)

    def _top_of(self, section: SectionFrame) -> int:
        return section.mapTo(self._content, QPoint()).y()


def _rule() -> QFrame:
    rule = QFrame()
    rule.setFrameShape(QFrame.Shape.HLine)
    rule.setFrameShadow(QFrame.Shadow.Plain)
    rule.setForegroundRole(QPalette.ColorRole.Mid)
    return rule
