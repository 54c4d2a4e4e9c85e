"""WandbPage: the W&B run of the selected run, its values, API key and connection."""

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
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.wandb.model.wandb_model import HOW_TO_TRACK, KEY, WandbModel
from gym_gui.wandb.model.wandb_values import NAME, VALUE, WandbValues
from gym_gui.wandb.view.wandb_run_info import WandbRunInfo
from gym_gui.widgets.banner import ToneMark
from gym_gui.widgets.buttons import CopyButton, SegmentedControl
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.labels import ElidedLabel

_VALUE_SHARE = 0.45


class WandbValuesView(QTableView):
    """Shows `WandbValues`. Ctrl+C copies the selected rows, or all rows."""

    def __init__(self, values: WandbValues, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = values
        self._filtered = QSortFilterProxyModel(self)
        self._filtered.setSourceModel(values)
        self._filtered.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._filtered.setFilterKeyColumn(NAME)
        self.setModel(self._filtered)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows, header = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(round(self.fontMetrics().height() * 1.75))
        header.setHighlightSections(False)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Fixed)

    def search(self, text: str) -> None:
        self._filtered.setFilterFixedString(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            selected = self.selectionModel().selectedRows()
            texts = (f"{row.data()}\t{row.siblingAtColumn(VALUE).data()}" for row in selected)
            QGuiApplication.clipboard().setText("\n".join(texts) or self._values.as_text())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        width = round(self.viewport().width() * _VALUE_SHARE)
        self.horizontalHeader().resizeSection(VALUE, width)


_KEY_TEXT: dict[bool | None, tuple[str, Tone]] = {
    True: (f"{KEY} is set", "good"),
    False: (f"{KEY} is not set: runs are tracked offline", "warning"),
    None: ("Waiting for the daemon to report the API key", "plain"),
}


class WandbAccess(QWidget):
    """Shows API key and connection of `WandbModel`, below the page."""

    key_requested = Signal(str)

    def __init__(self, model: WandbModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._key_mark = ToneMark(theme)
        self._key = ElidedLabel("value")
        self.set_key = QPushButton("Set API key…")
        self.set_key.setToolTip(f"{KEY} from wandb.ai/authorize, stored by the daemon")
        self._server = ElidedLabel("muted")
        self.test = QPushButton("Test connection")
        self._outcome_mark = ToneMark(theme)
        self._outcome = QLabel()
        self._outcome.setWordWrap(True)
        self._outcome.setProperty("role", "value")
        key_row, server_row, outcome_row = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for row in (key_row, server_row, outcome_row):
            row.setSpacing(line // 2)
        key_row.addWidget(self._key_mark)
        key_row.addWidget(self._key, 1)
        key_row.addWidget(self.set_key)
        server_row.addWidget(self._server, 1)
        server_row.addWidget(self.test)
        outcome_row.addWidget(self._outcome_mark)
        outcome_row.addWidget(self._outcome, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 2)
        layout.setSpacing(line // 3)
        for row in (key_row, server_row, outcome_row):
            layout.addLayout(row)
        self.set_key.clicked.connect(lambda: self.key_requested.emit(KEY))
        self.test.clicked.connect(model.test_connection)

    def update_access(self) -> None:
        model = self._model
        text, tone = _KEY_TEXT[model.key_is_set]
        self._key.show_text(text)
        self._key_mark.show_tone(tone)
        self.set_key.setText("Change API key…" if model.key_is_set else "Set API key…")
        proxy = f" through the proxy {model.proxy}" if model.proxy else ", no proxy"
        self._server.show_text(f"{model.server}{proxy}")
        self.test.setEnabled(not model.is_testing)
        self.test.setText("Testing…" if model.is_testing else "Test connection")
        self.test.setToolTip(
            "Testing the connection"
            if model.is_testing
            else "Request a page from the server, through the proxy if one is set"
        )
        report = model.report
        for widget in (self._outcome, self._outcome_mark):
            widget.setVisible(report is not None)
        if report is not None:
            self._outcome_mark.show_tone("good" if report.is_reached else "bad")
            self._outcome.setText(f"{report.summary}. {report.detail}".strip())
            self._outcome.setToolTip("\n".join(report.steps))


_HOW = (
    "In the training form, enable “Tracking” under Weights & Biases. Without an API key the"
    " run is tracked offline and can be uploaded later."
)


class WandbPage(QWidget):
    """Shows `WandbModel`. Files are polled only while the page is visible."""

    open_requested = Signal(str, str)
    """An address, and the proxy for it (may be empty)."""
    key_requested = Signal(str)
    reveal_requested = Signal(str)
    """A folder to open with the desktop."""

    def __init__(self, model: WandbModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.run_info = WandbRunInfo(model, theme)
        self.access = WandbAccess(model, theme)
        self.empty = EmptyState("chart", "", "", theme)
        self.table_switch = SegmentedControl(
            (("summary", "Summary"), ("config", "Configuration")), theme
        )
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search keys")
        self.search.setAccessibleName("Search keys")
        self.search.setClearButtonEnabled(True)
        copy = CopyButton("Copy all values", self._text, theme)
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
        bar.addWidget(self.table_switch)
        bar.addWidget(self.search, 1)
        bar.addWidget(copy)
        self._values = QWidget()
        values = QVBoxLayout(self._values)
        values.setContentsMargins(0, 0, 0, 0)
        values.setSpacing(line // 3)
        values.addWidget(self._bar)
        values.addWidget(self._tables, 1)
        content = QWidget()
        content_layout = QVBoxLayout(content)
        content_layout.setContentsMargins(line * 3 // 4, line * 2 // 3, line * 3 // 4, 0)
        content_layout.setSpacing(line * 2 // 3)
        content_layout.addWidget(self.run_info)
        content_layout.addWidget(self._values, 1)
        self._tables.setMinimumHeight(line * 4)
        scroll = QScrollArea()
        scroll.setWidget(content)
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
        self.run_info.open_requested.connect(
            lambda: self.open_requested.emit(self._model.url, self._model.proxy)
        )
        self.run_info.reveal_requested.connect(self.reveal_requested)
        self.access.key_requested.connect(self.key_requested)
        self.table_switch.activated.connect(lambda _: self._update_values())
        self.search.textChanged.connect(self._search)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_page_visible(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_page_visible(False)

    def _update(self) -> None:
        is_ready = self._model.phase == "ready"
        if is_ready:
            self.run_info.update_info()
            self._update_values()
        else:
            self.empty.show_message(*self._empty_text())
        self._stack.setCurrentIndex(1 if is_ready else 0)
        self.access.update_access()

    def _update_values(self) -> None:
        table_switch = self.table_switch.current
        self._bar.setVisible(self._model.run is not None)
        values = self._model.summary if table_switch == "summary" else self._model.config
        if values.rowCount():
            self._tables.setCurrentWidget(
                self.summary if table_switch == "summary" else self.config
            )
            return
        if self._model.run is None:
            self._no_values.show_message(
                "The values are on the server", "This W&B run has no files on this disk.", ""
            )
        elif table_switch == "summary":
            self._no_values.show_message(
                "No values yet", "Values appear when the run logs them.", ""
            )
        else:
            self._no_values.show_message("No configuration", "The run was tracked without one.", "")
        self._tables.setCurrentWidget(self._no_values)

    def _search(self, text: str) -> None:
        self.summary.search(text)
        self.config.search(text)

    def _text(self) -> str:
        model = self._model
        return (model.summary if self.table_switch.current == "summary" else model.config).as_text()

    def _empty_text(self) -> tuple[str, str]:
        match self._model.phase:
            case "none":
                return ("No run selected", "Select a run in the list.")
            case "loading":
                return ("Searching for W&B files", "")
            case "off":
                return (HOW_TO_TRACK, _HOW)
            case "waiting":
                return (
                    "Waiting for W&B to start",
                    "Tracking is on; files or address appear here shortly.",
                )
        return (
            "No W&B files",
            "The run ended before W&B started. See its log for the reason.",
        )
