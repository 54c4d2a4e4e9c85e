"""EpisodesPanel: the run's episodes, the verdict on the one that is shown, and its exports."""

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

from gym_gui.replay.model.replay_episodes import COLUMNS
from gym_gui.replay.model.replay_model import Outstanding, ReplayModel
from gym_gui.replay.model.replay_verdict import ReplayVerdict
from gym_gui.replay.view.export_row import ExportRow
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.icons import keep_icon
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_MARKS = {"good": "✓ ", "warning": "! ", "bad": "✕ ", "plain": ""}


class VerdictCard(QFrame):
    """Hidden while there is nothing to say."""

    retry_wanted = Signal()

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: ReplayVerdict | None = None
        self.setProperty("role", "card")
        self.setAccessibleName("Exactness of the replay")
        line = self.fontMetrics().height()
        self._badge = Badge("", "plain", theme)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._detail = QLabel()
        self._detail.setProperty("role", "caption")
        self._detail.setWordWrap(True)
        self._retry = QPushButton("Try again")
        self._retry.clicked.connect(self.retry_wanted)
        head = QHBoxLayout()
        head.addWidget(self._badge)
        head.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 2, line // 2, line // 2)
        layout.setSpacing(line // 4)
        layout.addLayout(head)
        layout.addWidget(self._text)
        layout.addWidget(self._detail)
        layout.addWidget(self._retry)
        self.hide()

    def show_verdict(self, verdict: ReplayVerdict | None) -> None:
        """Said anew only when it is another one."""
        if verdict == self._shown:
            return
        self._shown = verdict
        self.setVisible(verdict is not None)
        if verdict is None:
            return
        self._badge.show_text(_MARKS[verdict.tone] + verdict.headline, verdict.tone)
        self._text.setText(verdict.text)
        self._text.setVisible(bool(verdict.text))
        self._detail.setText(verdict.detail)
        self._detail.setVisible(bool(verdict.detail))
        self._retry.setVisible(verdict.can_retry)
        self.setAccessibleDescription(f"{verdict.headline}: {verdict.text} {verdict.detail}")


_ACTOR = COLUMNS.index("actor")
_OUTSTANDING: tuple[tuple[str, Outstanding, str], ...] = (
    ("Best", "best", "The finished episode with the highest return"),
    ("Worst", "worst", "The finished episode with the lowest return"),
    ("Longest", "longest", "The finished episode with the most steps"),
)

_MEASURED_ROWS = 30
"""Qt would look at a thousand for the width of a column, and all of them would be read."""


class EpisodesPanel(QWidget):
    """The left side of the Replay tab."""

    video_wanted = Signal(str, str)
    """Run and file: to be played in the Video tab."""

    def __init__(
        self, model: ReplayModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._run = ElidedLabel("muted")
        self._table = self._make_table(line)
        self._verdict = VerdictCard(theme)
        self._exports = ExportRow(model, theme)
        self._videos = self._make_video_row(theme, line)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line * 2 // 3, line * 2 // 3, line * 2 // 3)
        layout.setSpacing(line * 2 // 3)
        layout.addLayout(self._make_head(theme))
        layout.addLayout(self._make_outstanding(line))
        layout.addWidget(self._table, 1)
        layout.addWidget(self._verdict)
        layout.addWidget(self._videos)
        layout.addWidget(self._exports)
        self._verdict.retry_wanted.connect(model.retry)
        model.changed.connect(self._show_state)
        model.episode_changed.connect(self._show_state)
        model.episode_changed.connect(self._select_shown)
        model.episodes.rowsInserted.connect(self._select_shown)
        model.episodes.rowsInserted.connect(self._fit_columns)
        self._show_state()

    def _make_head(self, theme: ThemeModel) -> QHBoxLayout:
        title = QLabel("Episodes")
        title.setProperty("role", "heading")
        refresh = QToolButton()
        keep_icon(refresh, "refresh", theme, "muted")
        refresh.setToolTip("Look for new episodes")
        refresh.setAccessibleName("Look for new episodes")
        refresh.clicked.connect(self._model.episodes.refresh)
        head = QHBoxLayout()
        head.addWidget(title)
        head.addWidget(self._run, 1)
        head.addWidget(refresh)
        self._run.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return head

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
        """For numbers of the size that they usually have: to look at all would mean to read all."""
        metrics, padding = self.fontMetrics(), round(self.fontMetrics().height() * 1.3)
        widest = (f"{self._model.episodes.rowCount():,}", "-9,999.9", "99,999")
        for column, text in enumerate(widest):
            width = round(max(metrics.horizontalAdvance(text), metrics.height() * 1.4)) + padding
            seen = self._table.sizeHintForColumn(column)
            self._table.horizontalHeader().resizeSection(column, max(width, seen))
        self._give_way()

    def _give_way(self) -> None:
        """Who acted is left out where there is room for the numbers alone."""
        numbers = sum(self._table.columnWidth(column) for column in range(_ACTOR))
        least = self.fontMetrics().horizontalAdvance("scripted")
        self._table.setColumnHidden(_ACTOR, numbers + least > self._table.viewport().width())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._give_way()

    def _make_video_row(self, theme: ThemeModel, line: int) -> QWidget:
        row = QWidget()
        self._play_video = QPushButton("Play video")
        keep_icon(self._play_video, "film", theme)
        self._play_video.setToolTip("Play the run's newest video in the Video tab")
        self._play_video.clicked.connect(self._on_play_video)
        self._open_video = QPushButton("Open externally")
        keep_icon(self._open_video, "external", theme)
        self._open_video.setToolTip("Open the run's newest video in the desktop's own player")
        self._open_video.clicked.connect(self._on_open_video)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addWidget(self._play_video, 1)
        layout.addWidget(self._open_video, 1)
        return row

    def _on_play_video(self) -> None:
        if self._model.videos:
            self.video_wanted.emit(self._model.run_id, str(self._model.videos[-1].path))

    def _on_open_video(self) -> None:
        if self._model.videos:
            path = str(self._model.videos[-1].path)
            QDesktopServices.openUrl(QUrl.fromLocalFile(path))

    def _open_row(self, current: QModelIndex, _before: QModelIndex) -> None:
        chosen = self._model.episodes.episode_at(current.row())
        if chosen is not None and chosen.episode != self._model.episode:
            self._model.open(self._model.run_id, chosen.episode)

    def _select_shown(self) -> None:
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
            self._table.bring_into_sight(index)
            self._table.viewport().update()

    def _show_state(self) -> None:
        self._run.say(self._model.run_title)
        self._verdict.show_verdict(self._model.verdict)
        self._videos.setVisible(bool(self._model.videos))
        for button in self._outstanding:
            has_some = self._model.episodes.rowCount() > 0
            set_disabled_reason(button, "" if has_some else "There are no episodes.")
        self._exports.show_state()


class _EpisodeTable(QTableView):
    """The chosen row is in sight, also when rows come or what stands below takes some room."""

    def __init__(self) -> None:
        super().__init__()
        self._stays_at_chosen = False
        bar = self.verticalScrollBar()
        # Qt knows how far it can scroll only some time after rows came or the table was resized.
        bar.rangeChanged.connect(lambda *_: self._scroll_to_chosen())
        bar.actionTriggered.connect(lambda _: self._let_go())

    def bring_into_sight(self, index: QModelIndex) -> None:
        """Until a person scrolls."""
        self._stays_at_chosen = True
        self.scrollTo(index)

    def _scroll_to_chosen(self) -> None:
        if self._stays_at_chosen and self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())

    def _let_go(self) -> None:
        self._stays_at_chosen = False
