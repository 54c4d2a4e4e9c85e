"""EpisodesPanel: the episodes of the run, the replay status and exports."""

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.replay.model.replay_episodes import ACTOR
from gym_gui.replay.model.replay_model import Outstanding, ReplayModel
from gym_gui.replay.model.replay_status import ReplayStatus
from gym_gui.replay.view.export_row import ExportRow
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.labels import ElidedLabel
from gym_gui.widgets.styling import set_disabled_reason

_MARKS = {"good": "✓ ", "warning": "! ", "bad": "✕ ", "plain": ""}


class ReplayStatusCard(QFrame):
    """Shows a `ReplayStatus`; hidden without one."""

    retry_requested = Signal()

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._displayed: ReplayStatus | None = None
        self.setProperty("role", "card")
        self.setAccessibleName("Replay status")
        line = self.fontMetrics().height()
        self._badge = Badge("", "plain", theme)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._detail = QLabel()
        self._detail.setProperty("role", "caption")
        self._detail.setWordWrap(True)
        self._retry = QPushButton("Try again")
        self._retry.clicked.connect(self.retry_requested)
        header = QHBoxLayout()
        header.addWidget(self._badge)
        header.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 2, line // 2, line // 2)
        layout.setSpacing(line // 4)
        layout.addLayout(header)
        layout.addWidget(self._text)
        layout.addWidget(self._detail)
        layout.addWidget(self._retry)
        self.hide()

    def show_status(self, status: ReplayStatus | None) -> None:
        """Update the card if the status changed."""
        if status == self._displayed:
            return
        self._displayed = status
        self.setVisible(status is not None)
        if status is None:
            return
        self._badge.show_text(_MARKS[status.tone] + status.headline, status.tone)
        self._text.setText(status.text)
        self._text.setVisible(bool(status.text))
        self._detail.setText(status.detail)
        self._detail.setVisible(bool(status.detail))
        self._retry.setVisible(status.can_retry)
        self.setAccessibleDescription(f"{status.headline}: {status.text} {status.detail}")


_OUTSTANDING: tuple[tuple[str, Outstanding, str], ...] = (
    ("Best", "best", "The finished episode with the highest return"),
    ("Worst", "worst", "The finished episode with the lowest return"),
    ("Longest", "longest", "The finished episode with the most steps"),
)

_MEASURED_ROWS = 30
"""Rows measured for column widths. The default of Qt, 1000, would read all of them."""


class EpisodesPanel(QWidget):
    """The left side of the Replay tab. Shows `ReplayModel`."""

    video_requested = Signal(str, str)
    """Run id and path of a video to play."""

    def __init__(
        self, model: ReplayModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._run = ElidedLabel("muted")
        self._table = self._make_table(line)
        self._status = ReplayStatusCard(theme)
        self._exports = ExportRow(model, theme)
        self._videos = self._make_video_row(theme, line)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line * 2 // 3, line * 2 // 3, line * 2 // 3)
        layout.setSpacing(line * 2 // 3)
        layout.addLayout(self._make_header(theme))
        layout.addLayout(self._make_outstanding(line))
        layout.addWidget(self._table, 1)
        layout.addWidget(self._status)
        layout.addWidget(self._videos)
        layout.addWidget(self._exports)
        self._status.retry_requested.connect(model.retry)
        model.changed.connect(self._show_state)
        model.episode_changed.connect(self._show_state)
        model.episode_changed.connect(self._select_current)
        model.episodes.rowsInserted.connect(self._select_current)
        model.episodes.rowsInserted.connect(self._fit_columns)
        self._show_state()

    def _make_header(self, theme: ThemeModel) -> QHBoxLayout:
        title = QLabel("Episodes")
        title.setProperty("role", "heading")
        refresh = QToolButton()
        set_icon(refresh, "refresh", theme, "muted")
        refresh.setToolTip("Refresh episodes")
        refresh.setAccessibleName("Refresh episodes")
        refresh.clicked.connect(self._model.episodes.refresh)
        header = QHBoxLayout()
        header.addWidget(title)
        header.addWidget(self._run, 1)
        header.addWidget(refresh)
        self._run.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return header

    def _make_outstanding(self, line: int) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(line // 3)
        self._outstanding = []
        for text, which, tip in _OUTSTANDING:
            button = QPushButton(text)
            button.setToolTip(tip)
            button.clicked.connect(lambda _=False, chosen=which: self._open_outstanding(chosen))
            row.addWidget(button, 1)
            self._outstanding.append(button)
        return row

    def _open_outstanding(self, which: Outstanding) -> None:
        self._model.open_outstanding(which)

    def _make_table(self, line: int) -> "_EpisodeTable":
        table = _EpisodeTable()
        table.setModel(self._model.episodes)
        table.setAccessibleName("Episodes of the run")
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(round(line * 1.7))
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setResizeContentsPrecision(_MEASURED_ROWS)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setMinimumSectionSize(round(line * 2.2))
        header.setHighlightSections(False)
        table.setMinimumHeight(line * 7)
        table.selectionModel().currentRowChanged.connect(self._open_row)
        return table

    def _fit_columns(self) -> None:
        """Fit typical values; measuring all rows would read all rows."""
        metrics, padding = self.fontMetrics(), round(self.fontMetrics().height() * 1.3)
        widest = (f"{self._model.episodes.rowCount():,}", "-9,999.9", "99,999")
        for column, text in enumerate(widest):
            width = round(max(metrics.horizontalAdvance(text), metrics.height() * 1.4)) + padding
            seen = self._table.sizeHintForColumn(column)
            self._table.horizontalHeader().resizeSection(column, max(width, seen))
        self._update_actor_column()

    def _update_actor_column(self) -> None:
        """Hide the actor column if the table is too narrow."""
        numbers = sum(self._table.columnWidth(column) for column in range(ACTOR))
        min_width = self.fontMetrics().horizontalAdvance("scripted")
        self._table.setColumnHidden(ACTOR, numbers + min_width > self._table.viewport().width())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._update_actor_column()

    def _make_video_row(self, theme: ThemeModel, line: int) -> QWidget:
        row = QWidget()
        self._play_video = QPushButton("Play video")
        set_icon(self._play_video, "film", theme)
        self._play_video.setToolTip("Play the newest video of the run in the Video tab")
        self._play_video.clicked.connect(self._on_play_video)
        self._open_video = QPushButton("Open externally")
        set_icon(self._open_video, "external", theme)
        self._open_video.setToolTip("Open the newest video of the run in the system player")
        self._open_video.clicked.connect(self._on_open_video)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addWidget(self._play_video, 1)
        layout.addWidget(self._open_video, 1)
        return row

    def _on_play_video(self) -> None:
        if self._model.videos:
            self.video_requested.emit(self._model.run_id, str(self._model.videos[-1].path))

    def _on_open_video(self) -> None:
        if self._model.videos:
            path = str(self._model.videos[-1].path)
            QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    def _open_row(self, current: QModelIndex, _before: QModelIndex) -> None:
        chosen = self._model.episodes.episode_at(current.row())
        if chosen is not None and chosen.episode != self._model.episode:
            self._model.open(self._model.run_id, chosen.episode)

    def _select_current(self) -> None:
        episode = self._model.episode
        row = self._model.episodes.row_of(episode) if episode is not None else None
        if row is not None and row != self._table.currentIndex().row():
            selection = self._table.selectionModel()
            selection.blockSignals(True)
            index = self._model.episodes.index(row, 0)
            selection.setCurrentIndex(
                index,
                QItemSelectionModel.SelectionFlag.ClearAndSelect
                | QItemSelectionModel.SelectionFlag.Rows,
            )
            selection.blockSignals(False)
            self._table.scroll_to_selected(index)
            self._table.viewport().update()

    def _show_state(self) -> None:
        self._run.show_text(self._model.run_title)
        self._status.show_status(self._model.status)
        self._videos.setVisible(bool(self._model.videos))
        for button in self._outstanding:
            has_some = self._model.episodes.rowCount() > 0
            set_disabled_reason(button, "" if has_some else "There are no episodes.")
        self._exports.show_state()


class _EpisodeTable(QTableView):
    """Keeps the selected row visible when rows are added or the table is resized."""

    def __init__(self) -> None:
        super().__init__()
        self._follows_selection = False
        bar = self.verticalScrollBar()
        # Qt updates the scroll range some time after rows were added or the table was resized.
        bar.rangeChanged.connect(lambda *_: self._scroll_to_selection())
        bar.actionTriggered.connect(lambda _: self._stop_following())

    def scroll_to_selected(self, index: QModelIndex) -> None:
        """Keep the row visible until the user scrolls."""
        self._follows_selection = True
        self.scrollTo(index)

    def _scroll_to_selection(self) -> None:
        if self._follows_selection and self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def _stop_following(self) -> None:
        self._follows_selection = False
