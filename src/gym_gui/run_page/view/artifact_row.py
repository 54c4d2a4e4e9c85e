"""ArtifactRowView: one kind of artifact: how much there is of it and what to do with it."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model.run_artifacts import ArtifactRow
from gym_gui.run_page.model.run_summary import moment
from gym_gui.runtime.models import number_text
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.icons import IconName, keep_icon
from mosaic.contract.manifest import ArtifactFile

_SHOWN_AT_FIRST = 5


class ArtifactRowView(QFrame):
    """Made anew when what it shows is other than before."""

    action_wanted = Signal(str)
    """The kind."""
    folder_wanted = Signal(str)
    """A path inside of the run's folder."""
    file_wanted = Signal(str, str)
    """The kind, and a path inside of the run's folder."""

    def __init__(
        self, row: ArtifactRow, theme: ThemeModel, now: float, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.row = row
        self._theme = theme
        self._now = now
        self._line = line = self.fontMetrics().height()
        self.setProperty("role", "card")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(line * 3 // 4, line // 2, line // 2, line // 2)
        self._layout.setSpacing(line // 4)
        self._layout.addLayout(self._head())
        self._add_files(row.files[:_SHOWN_AT_FIRST])
        self._more: QPushButton | None = None
        if len(row.files) > _SHOWN_AT_FIRST or row.not_listed:
            self._add_more()

    def _head(self) -> QHBoxLayout:
        row = self.row
        head = QHBoxLayout()
        head.setSpacing(self._line // 2)
        title = QLabel(row.title)
        title.setEnabled(not row.reason)
        font = title.font()
        font.setBold(not row.reason)
        title.setFont(font)
        head.addWidget(title)
        size = number_text.size(row.size_bytes) if row.size_bytes is not None else ""
        when = moment(row.t, self._now) if row.t else ""
        if row.reason:
            reason = QLabel(row.reason)
            reason.setProperty("role", "muted")
            reason.setWordWrap(True)
            head.addWidget(reason, 1)
        else:
            words = ElidedLabel("muted")
            words.say(" · ".join(filter(None, (row.what, size, when))))
            head.addWidget(words, 1)
        if row.path and not row.reason:
            head.addWidget(
                _button("folder", f"Open the folder of {row.title}", self._theme, self._open_folder)
            )
        if row.action:
            action = QPushButton(row.action.replace("&", "&&"))
            action.setEnabled(not row.reason)
            action.setToolTip(row.reason)
            action.clicked.connect(lambda: self.action_wanted.emit(row.kind))
            head.addWidget(action)
        return head

    def _open_folder(self) -> None:
        self.folder_wanted.emit(self.row.path)

    def _add_files(self, files: tuple[ArtifactFile, ...]) -> None:
        for file in files:
            self._layout.addLayout(self._file_line(file))

    def _file_line(self, file: ArtifactFile) -> QHBoxLayout:
        name = ElidedLabel("value")
        name.say(file.path.rpartition("/")[2])
        name.setToolTip(file.path)
        size = QLabel(number_text.size(file.size_bytes))
        size.setProperty("role", "muted")
        when = QLabel(moment(file.t, self._now))
        when.setProperty("role", "muted")
        is_video = self.row.kind == "videos"
        open_it = _button(
            "play" if is_video else "external",
            f"{'Play' if is_video else 'Open'} {file.path.rpartition('/')[2]}",
            self._theme,
            lambda: self.file_wanted.emit(self.row.kind, file.path),
        )
        line = QHBoxLayout()
        line.setSpacing(self._line // 2)
        line.addWidget(name, 1)
        line.addWidget(size)
        line.addWidget(when)
        line.addWidget(open_it)
        return line

    def _add_more(self) -> None:
        row = self.row
        left = len(row.files) - _SHOWN_AT_FIRST + row.not_listed
        self._more = QPushButton(f"{left:,} more")
        self._more.setProperty("role", "quiet")
        self._more.clicked.connect(self._show_more)
        self._layout.addWidget(self._more)

    def _show_more(self) -> None:
        if self._more is not None:
            self._more.deleteLater()
            self._more = None
        self._add_files(self.row.files[_SHOWN_AT_FIRST:])
        if self.row.not_listed:
            rest = QLabel(f"{self.row.not_listed:,} more are in the folder.")
            rest.setProperty("role", "muted")
            self._layout.addWidget(rest)


def _button(
    picture: IconName, text: str, theme: ThemeModel, run: Callable[[], None]
) -> QToolButton:
    button = QToolButton()
    keep_icon(button, picture, theme, "muted")
    button.setToolTip(text)
    button.setAccessibleName(text)
    button.clicked.connect(run)
    return button
