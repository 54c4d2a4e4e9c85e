"""EnvironmentPicker: drop-down panel to select an environment: search, families, list.

Escape or a click outside closes it. The search field has the focus; it forwards arrow keys to the
list.
"""

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.environments_model import EnvironmentsModel
from gym_gui.session.view.environment_row_delegate import EnvironmentRowDelegate
from gym_gui.session.view.thumbnails import Thumbnails, glyph_of
from gym_gui.widgets.icons import themed_icon

COUNT_ROLE = int(Qt.ItemDataRole.UserRole)


class FamilyDelegate(QStyledItemDelegate):
    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), round(option.fontMetrics.height() * 1.9))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        painter.save()
        painter.setPen(QColor(self._theme.colours.muted))
        box = option.rect.adjusted(0, 0, -option.fontMetrics.height() // 2, 0)
        count = str(index.data(COUNT_ROLE))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, count)
        painter.restore()


_WIDTH_EMS = 46
_HEIGHT_EMS = 36
_FAMILIES_EMS = 11
_MARGIN = 8
_LIST_KEYS = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
)


class EnvironmentPicker(QFrame):
    """Created once by the environment field. Shows `EnvironmentsModel`."""

    chosen = Signal(str)

    def __init__(
        self,
        environments: EnvironmentsModel,
        thumbnails: Thumbnails,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAccessibleName("Choose an environment")
        self._field: QWidget = self
        self._environments = environments
        self._theme = theme
        self._search = QLineEdit()
        self._families = QListWidget()
        self._list = _RowList(EnvironmentRowDelegate(thumbnails, theme, self))
        self._about = QLabel()
        self._build()
        self._list.setModel(environments)
        self._search.textChanged.connect(self._on_text)
        self._families.currentRowChanged.connect(self._on_family)
        self._list.clicked.connect(self._choose)
        self._list.visible_rows_changed.connect(self._request_thumbnails)
        environments.modelReset.connect(self._on_reset)
        environments.thumbnail_arrived.connect(self._on_thumbnail)
        self._show_families()

    def open_below(self, field: QWidget, env_id: str) -> None:
        """Open below `field`, completely on its screen."""
        self._field = field
        em = self.fontMetrics().height()
        screen = field.screen().availableGeometry()
        self.resize(
            min(_WIDTH_EMS * em, screen.width() - 2 * _MARGIN),
            min(_HEIGHT_EMS * em, screen.height() - 2 * _MARGIN),
        )
        rect = QRect(field.mapToGlobal(QPoint(0, field.height() + 4)), self.size())
        available = screen.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        rect.moveLeft(max(available.left(), min(rect.left(), available.right() - rect.width())))
        rect.moveTop(max(available.top(), min(rect.top(), available.bottom() - rect.height())))
        self.move(rect.topLeft())
        self._search.clear()
        self._environments.search("")
        self._environments.show_family("")
        self._environments.refresh_bundles()
        self._show_families()
        self.show()
        self._search.setFocus()
        self._select(self._environments.index_of(env_id))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        is_press = watched is self._search and event.type() == QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and self._handle_key(event):
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._list.currentIndex())
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        # A press on the field closes the popup; do not replay it, or the field opens it again.
        position = self._field.mapFromGlobal(event.globalPosition().toPoint())
        is_on_field = self._field.rect().contains(position) and not self.rect().contains(
            event.pos()
        )
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay, is_on_field)
        super().mousePressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.surface))
        painter.setPen(QColor(colours.line))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._list.report_visible_rows()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        count = self._environments.families()[0].count
        self._search.setPlaceholderText(f"Search {count} environments, or type any id")
        self._search.setAccessibleName("Search environments")
        self._search.setClearButtonEnabled(True)
        self._search.addAction(
            themed_icon("search", self._theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self._search.installEventFilter(self)
        self._families.setAccessibleName("Families of environments")
        self._families.setFixedWidth(_FAMILIES_EMS * em)
        self._families.setFrameShape(QFrame.Shape.NoFrame)
        self._families.setIconSize(QSize(em, em))
        self._families.setItemDelegate(FamilyDelegate(self._theme, self))
        self._list.setAccessibleName("Environments")
        self._about.setProperty("role", "muted")
        self._about.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em * 3 // 4, em * 3 // 4, em * 3 // 4)
        layout.setSpacing(em // 2)
        layout.addWidget(self._search)
        columns = QHBoxLayout()
        columns.setSpacing(em // 2)
        columns.addWidget(self._families)
        columns.addWidget(self._list, 1)
        layout.addLayout(columns, 1)
        layout.addWidget(self._about)

    def _handle_key(self, event: QKeyEvent) -> bool:
        """Keys of the search field that move in the list, or select."""
        if event.key() in _LIST_KEYS:
            self._list.handle_key(event)
            return True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._list.currentIndex())
            return True
        return False

    def _on_text(self, text: str) -> None:
        self._environments.search(text)
        self._show_families()

    def _on_family(self, row: int) -> None:
        families = self._environments.families()
        if 0 <= row < len(families):
            self._environments.show_family(families[row].id)
            self._about.setText(families[row].summary)

    def _on_reset(self) -> None:
        if self.isVisible():
            self._select(self._environments.first_environment())
            self._list.scrollToTop()  # Show the heading, too.
            self._list.report_visible_rows()

    def _on_thumbnail(self, _env_id: str) -> None:
        self._list.viewport().update()

    def _request_thumbnails(self, env_ids: list[str]) -> None:
        if self.isVisible():
            self._environments.request_thumbnails(env_ids)

    def _show_families(self) -> None:
        families = self._environments.families()
        self._families.blockSignals(True)
        while self._families.count() > len(families):
            self._families.takeItem(self._families.count() - 1)
        while self._families.count() < len(families):
            self._families.addItem(QListWidgetItem())
        for row, family in enumerate(families):
            item = self._families.item(row)
            if item.text() != family.title:
                item.setText(family.title)
                item.setIcon(themed_icon(glyph_of(family.id), self._theme, "muted"))
                item.setToolTip(family.summary)
            item.setData(COUNT_ROLE, family.count)
            item.setData(
                Qt.ItemDataRole.AccessibleTextRole, f"{family.title}, {family.count} environments"
            )
            if family.id == self._environments.family:
                self._families.setCurrentRow(row)
                self._about.setText(family.summary)
        self._families.blockSignals(False)

    def _select(self, index: QModelIndex) -> None:
        if not index.isValid():
            index = self._environments.first_environment()
        self._list.setCurrentIndex(index)
        self._list.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _choose(self, index: QModelIndex) -> None:
        row = self._environments.row_at(index)
        if row is not None and row.env_id:
            self.close()
            self.chosen.emit(row.env_id)


class _RowList(QListView):
    """Reports which environments are visible, so that only their thumbnails are rendered."""

    visible_rows_changed = Signal(list)

    def __init__(self, delegate: EnvironmentRowDelegate) -> None:
        super().__init__()
        self.setItemDelegate(delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(lambda _: self.report_visible_rows())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.report_visible_rows()

    def handle_key(self, event: QKeyEvent) -> None:
        """Forwarded from the search field, which keeps the focus."""
        self.keyPressEvent(event)

    def report_visible_rows(self) -> None:
        model = self.model()
        if not isinstance(model, EnvironmentsModel):
            return
        top = self.indexAt(QPoint(4, 2)).row()
        bottom = self.indexAt(QPoint(4, self.viewport().height() - 2)).row()
        last = model.rowCount() - 1 if bottom < 0 else bottom
        rows = (model.row_at(model.index(number)) for number in range(max(top, 0), last + 1))
        self.visible_rows_changed.emit([row.env_id for row in rows if row and row.env_id])
