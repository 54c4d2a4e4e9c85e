"""TensorBoardPage: event files of the selected run, and TensorBoard servers."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel
from gym_gui.tensorboard.model.tensorboard_text import (
    EmptyText,
    ServerSummary,
    export_text,
    no_files_text,
)
from gym_gui.tensorboard.view.tensorboard_header import TensorBoardHeader
from gym_gui.tensorboard.view.tensorboard_run_picker import TensorBoardRunPicker
from gym_gui.tensorboard.view.tensorboard_server_card import TensorBoardServerCard
from gym_gui.tensorboard.view.tensorboard_tags import TensorBoardTags
from gym_gui.widgets.empty_state import EmptyState


class TensorBoardServerList(QWidget):
    """Shows `TensorBoardModel.servers`. A card lives as long as its server."""

    open_requested = Signal(str)

    def __init__(
        self, model: TensorBoardModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._cards: dict[object, TensorBoardServerCard] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(self.fontMetrics().height() // 2)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        summaries = self._model.servers
        current = {summary.server for summary in summaries}
        for removed in [server for server in self._cards if server not in current]:
            card = self._cards.pop(removed)
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        for index, summary in enumerate(summaries):
            card = self._cards.get(summary.server) or self._make_card(summary)
            card.show_summary(summary)
            if self._layout.indexOf(card) != index:
                self._layout.removeWidget(card)
                self._layout.insertWidget(index, card)
        self.setVisible(bool(summaries))

    def _make_card(self, summary: ServerSummary) -> TensorBoardServerCard:
        card = TensorBoardServerCard(summary, self._theme)
        card.open_requested.connect(self.open_requested)
        card.stop_requested.connect(self._model.stop)
        card.retry_requested.connect(self._model.retry)
        self._cards[summary.server] = card
        return card


_NO_RUN = EmptyText(
    "No run selected",
    "Select a run in the list, or open a folder with event files.",
    "Open folder…",
)
_SEARCHING = EmptyText("Searching for event files…", "")


class TensorBoardPage(QWidget):
    """Shows `TensorBoardModel`. A tab of the main window."""

    charts_requested = Signal(str)
    """Run whose curves are to be plotted in the charts."""

    def __init__(
        self, model: TensorBoardModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        em = self.fontMetrics().height()
        self._header = TensorBoardHeader(model, theme)
        self._servers = TensorBoardServerList(model, theme)
        self._empty = EmptyState("chart", *_NO_RUN[:2], theme)
        self._tags = TensorBoardTags(model.events.tags, theme)
        self._tags.setMinimumHeight(em * 9)
        self._content = QStackedWidget()
        self._content.addWidget(self._empty)
        self._content.addWidget(self._tags)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(em, em * 2 // 3, em, em * 2 // 3)
        layout.setSpacing(em * 2 // 3)
        layout.addWidget(self._header)
        layout.addWidget(self._servers)
        layout.addWidget(self._content, 1)
        scroll = QScrollArea()
        scroll.setWidget(content)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName("TensorBoard")
        self._overview = scroll
        self._picker = TensorBoardRunPicker(model)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._overview)
        self._pages.addWidget(self._picker)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._pages)
        self._empty.action_triggered.connect(self._on_action_triggered)
        self._header.several_requested.connect(self.select_runs)
        self._header.folder_requested.connect(self.select_folder)
        self._servers.open_requested.connect(model.show_address)
        self._tags.charts_requested.connect(
            lambda: self.charts_requested.emit(model.selected.run_id)
        )
        self._picker.closed.connect(lambda: self._pages.setCurrentWidget(self._overview))
        model.changed.connect(self._show)
        self._show()

    def select_runs(self) -> None:
        """Select the runs to open in one TensorBoard."""
        self._picker.start()
        self._pages.setCurrentWidget(self._picker)

    def select_folder(self) -> None:
        dialog = QFileDialog(self, "Folder of event files")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda folder: self._model.open_folder(Path(folder)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        self._model.set_page_visible(True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        self._model.set_page_visible(False)
        super().hideEvent(event)

    def _show(self) -> None:
        summary = self._model.events.summary
        if summary is None:
            self._empty.show_message(*self._empty_text())
        self._content.setCurrentWidget(self._empty if summary is None else self._tags)

    def _empty_text(self) -> EmptyText:
        model = self._model
        if model.selected.run is None:
            return _NO_RUN
        if model.export.run_id == model.selected.run_id:
            return export_text(model.export.points)
        if model.events.is_searching:
            return _SEARCHING
        return no_files_text(model.why_no_events, model.why_not_export)

    def _on_action_triggered(self) -> None:
        model = self._model
        if model.selected.run is None:
            self.select_folder()
        elif model.export.run_id:
            model.export.cancel()
        else:
            model.export_event_files(model.selected.run_id)
