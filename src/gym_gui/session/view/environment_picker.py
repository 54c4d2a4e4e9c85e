"""EnvironmentPicker: the panel that drops down to choose an environment: search, families, list.

It is no dialog: Escape or a click elsewhere closes it. The search field has the keyboard, and the
arrow keys walk through the list all the same.
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
from gym_gui.widgets.icons import icon

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
    """Made once by the environment field, and opened as often as needed."""

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
        self._list.in_sight_changed.connect(self._want_pictures)
        environments.modelReset.connect(self._on_reset)
        environments.picture_arrived.connect(self._on_picture)
        self._show_families()

    def open_below(self, field: QWidget, env_id: str) -> None:
        """Beside what it belongs to, and wholly on its screen."""
        self._field = field
        em = self.fontMetrics().height()
        screen = field.screen().availableGeometry()
        self.resize(
            min(_WIDTH_EMS * em, screen.width() - 2 * _MARGIN),
            min(_HEIGHT_EMS * em, screen.height() - 2 * _MARGIN),
        )
        place = QRect(field.mapToGlobal(QPoint(0, field.height() + 4)), self.size())
        room = screen.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        place.moveLeft(max(room.left(), min(place.left(), room.right() - place.width())))
        place.moveTop(max(room.top(), min(place.top(), room.bottom() - place.height())))
        self.move(place.topLeft())
        self._search.clear()
        self._environments.search("")
        self._environments.show_family("")
        self._environments.look_at_bundles()
        self._show_families()
        self.show()
        self._search.setFocus()
        self._select(self._environments.index_of(env_id))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        is_press = watched is self._search and event.type() == QEvent.Type.KeyPress
        if is_press and isinstance(event, QKeyEvent) and self._take_key(event):
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
        # A press on the field closes this; handed on to the field, it would open it again.
        at = self._field.mapFromGlobal(event.globalPosition().toPoint())
        is_on_field = self._field.rect().contains(at) and not self.rect().contains(event.pos())
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
        self._list.tell_what_is_in_sight()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        count = self._environments.families()[0].count
        self._search.setPlaceholderText(f"Search {count} environments, or type any id")
        self._search.setAccessibleName("Search environments")
        self._search.setClearButtonEnabled(True)
        self._search.addAction(
            icon("search", self._theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
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

    def _take_key(self, event: QKeyEvent) -> bool:
        """In the search field: what moves through the list, or chooses."""
        if event.key() in _LIST_KEYS:
            self._list.take_key(event)
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
            self._list.scrollToTop()  # Its heading is to be seen, too.
            self._list.tell_what_is_in_sight()

    def _on_picture(self, _env_id: str) -> None:
        self._list.viewport().update()

    def _want_pictures(self, env_ids: list[str]) -> None:
        if self.isVisible():
            self._environments.want_pictures(env_ids)

    def _show_families(self) -> None:
        families = self._environments.families()
        self._families.blockSignals(True)
        while self._families.count() > len(families):
            self._families.takeItem(self._families.count() - 1)
        while self._families.count() < len(families):
            self._families.addItem(QListWidgetItem())
        for at, family in enumerate(families):
            item = self._families.item(at)
            if item.text() != family.title:
                item.setText(family.title)
                item.setIcon(icon(glyph_of(family.id), self._theme, "muted"))
                item.setToolTip(family.summary)
            item.setData(COUNT_ROLE, family.count)
            item.setData(
                Qt.ItemDataRole.AccessibleTextRole, f"{family.title}, {family.count} environments"
            )
            if family.id == self._environments.family:
                self._families.setCurrentRow(at)
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
    """Says which environments are in sight, so that only their pictures are drawn."""

    in_sight_changed = Signal(list)

    def __init__(self, delegate: EnvironmentRowDelegate) -> None:
        super().__init__()
        self.setItemDelegate(delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(lambda _: self.tell_what_is_in_sight())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.tell_what_is_in_sight()

    def take_key(self, event: QKeyEvent) -> None:
        """From the search field, which keeps the keyboard."""
        self.keyPressEvent(event)

    def tell_what_is_in_sight(self) -> None:
        model = self.model()
        if not isinstance(model, EnvironmentsModel):
            return
        top = self.indexAt(QPoint(4, 2)).row()
        bottom = self.indexAt(QPoint(4, self.viewport().height() - 2)).row()
        last = model.rowCount() - 1 if bottom < 0 else bottom
        rows = (model.row_at(model.index(at)) for at in range(max(top, 0), last + 1))
        self.in_sight_changed.emit([row.env_id for row in rows if row and row.env_id])
