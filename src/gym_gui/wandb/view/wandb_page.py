"""WandbPage: the shown run in Weights & Biases; for offline runs what they have kept."""

from PySide6.QtCore import QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import (
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QScrollArea,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.wandb.model.wandb_model import HOW_TO_TRACK, WandbModel
from gym_gui.wandb.model.wandb_values import NAME, VALUE, WandbValues
from gym_gui.wandb.view.wandb_access import WandbAccess
from gym_gui.wandb.view.wandb_facts import WandbFacts
from gym_gui.widgets.copy_button import CopyButton
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.segmented import SegmentedControl

_VALUE_SHARE = 0.45


class WandbValuesView(QTableView):
    """Ctrl+C copies the chosen rows, or all of them where none is chosen."""

    def __init__(self, values: WandbValues, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = values
        self._found = QSortFilterProxyModel(self)
        self._found.setSourceModel(values)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._found.setFilterKeyColumn(NAME)
        self.setModel(self._found)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows, head = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(round(self.fontMetrics().height() * 1.75))
        head.setHighlightSections(False)
        head.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Fixed)

    def search(self, text: str) -> None:
        self._found.setFilterFixedString(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            chosen = self.selectionModel().selectedRows()
            texts = (f"{row.data()}\t{row.siblingAtColumn(VALUE).data()}" for row in chosen)
            QGuiApplication.clipboard().setText("\n".join(texts) or self._values.as_text())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        width = round(self.viewport().width() * _VALUE_SHARE)
        self.horizontalHeader().resizeSection(VALUE, width)


_HOW = (
    "In the training form switch on “Track this run” below Weights & Biases. Without a key it is"
    " tracked offline, and can be uploaded later."
)


class WandbPage(QWidget):
    """Files are looked at only while it is in sight."""

    open_wanted = Signal(str, str)
    """An address, and the proxy to reach it through; empty: none."""
    key_requested = Signal(str)
    reveal_wanted = Signal(str)
    """A folder to be shown by the desktop."""

    def __init__(self, model: WandbModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.facts = WandbFacts(model, theme)
        self.access = WandbAccess(model, theme)
        self.empty = EmptyState("chart", "", "", theme)
        self.which = SegmentedControl((("summary", "Summary"), ("config", "Configuration")), theme)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a key")
        self.search.setAccessibleName("Find a key")
        self.search.setClearButtonEnabled(True)
        copy = CopyButton("Copy all of it", self._text, theme)
        self.summary = WandbValuesView(model.summary, "Summary")
        self.config = WandbValuesView(model.config, "Configuration")
        self._no_values = EmptyState("table", "", "", theme)
        self._tables = QStackedWidget()
        for table in (self.summary, self.config, self._no_values):
            self._tables.addWidget(table)
        self._bar = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(line // 2)
        bar.addWidget(self.which)
        bar.addWidget(self.search, 1)
        bar.addWidget(copy)
        self._values = QWidget()
        values = QVBoxLayout(self._values)
        values.setContentsMargins(0, 0, 0, 0)
        values.setSpacing(line // 3)
        values.addWidget(self._bar)
        values.addWidget(self._tables, 1)
        full = QWidget()
        inside = QVBoxLayout(full)
        inside.setContentsMargins(line * 3 // 4, line * 2 // 3, line * 3 // 4, 0)
        inside.setSpacing(line * 2 // 3)
        inside.addWidget(self.facts)
        inside.addWidget(self._values, 1)
        self._tables.setMinimumHeight(line * 4)
        scroll = QScrollArea()
        scroll.setWidget(full)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(scroll)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.access)
        self._subscribe()
        self._update()

    def _subscribe(self) -> None:
        self._model.changed.connect(self._update)
        self.facts.open_wanted.connect(
            lambda: self.open_wanted.emit(self._model.url, self._model.proxy)
        )
        self.facts.reveal_wanted.connect(self.reveal_wanted)
        self.access.key_requested.connect(self.key_requested)
        self.which.chosen.connect(lambda _: self._update_values())
        self.search.textChanged.connect(self._find)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_in_sight(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_in_sight(False)

    def _update(self) -> None:
        is_ready = self._model.phase == "ready"
        if is_ready:
            self.facts.update_facts()
            self._update_values()
        else:
            self.empty.say(*self._words())
        self._stack.setCurrentIndex(1 if is_ready else 0)
        self.access.update_access()

    def _update_values(self) -> None:
        which = self.which.current
        self._bar.setVisible(self._model.run is not None)
        values = self._model.summary if which == "summary" else self._model.config
        if values.rowCount():
            self._tables.setCurrentWidget(self.summary if which == "summary" else self.config)
            return
        if self._model.run is None:
            self._no_values.say(
                "The values are on the server", "Nothing of this W&B run lies on this disk.", ""
            )
        elif which == "summary":
            self._no_values.say("No values yet", "They appear as soon as the run logs some.", "")
        else:
            self._no_values.say("No configuration", "The run was tracked without one.", "")
        self._tables.setCurrentWidget(self._no_values)

    def _find(self, text: str) -> None:
        self.summary.search(text)
        self.config.search(text)

    def _text(self) -> str:
        model = self._model
        return (model.summary if self.which.current == "summary" else model.config).as_text()

    def _words(self) -> tuple[str, str]:
        match self._model.phase:
            case "none":
                return ("No run is shown", "Choose a run in the list of runs.")
            case "loading":
                return ("Looking for W&B files", "")
            case "off":
                return (HOW_TO_TRACK, _HOW)
            case "waiting":
                return (
                    "Waiting for W&B to begin",
                    "The run tracks; its files or its address appear here within moments.",
                )
        return (
            "W&B has left nothing",
            "The run was to be tracked, but ended before W&B began. Its log says why.",
        )
