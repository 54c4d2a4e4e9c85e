"""Icons in a colour of the theme, sharp at any size and pixel ratio.

An icon looks up its colour when it is painted, so it follows a change of the theme.
"""

from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QByteArray, QObject, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QIconEngine, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton
from shiboken6 import isValid

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icon_drawings import DRAWINGS, IconName

__all__ = ["ColourRole", "IconName", "draw_icon", "set_icon", "svg", "themed_icon"]

ColourRole = Literal[
    "text", "muted", "disabled", "accent", "on_accent", "good", "warning", "bad", "person", "agent"
]

_STROKE = 1.75


def themed_icon(name: IconName, theme: ThemeModel, role: ColourRole = "text") -> QIcon:
    """An icon that is grey on a disabled control."""
    return QIcon(_ThemedEngine(name, theme, role))


def set_icon(
    owner: QAbstractButton | QAction, name: IconName, theme: ThemeModel, role: ColourRole = "text"
) -> None:
    """Set the icon of `owner`, and repaint it when the theme changes."""
    owner.setIcon(themed_icon(name, theme, role))
    if owner.property("themedIcon") is None:
        owner.setProperty("themedIcon", True)
        theme.changed.connect(_Repainter(owner).repaint)


def draw_icon(painter: QPainter, name: IconName, colour: str, rect: QRectF) -> None:
    """Paint an icon at the scale of the painter."""
    _renderer(name, colour).render(painter, rect)


def svg(name: IconName, colour: str) -> bytes:
    """The icon as an SVG file, for style sheets."""
    drawing = DRAWINGS[name]
    lines = f'<path d="{drawing.lines}" fill="none"/>' if drawing.lines else ""
    filled = f'<path d="{drawing.filled}" fill="{colour}"/>' if drawing.filled else ""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">'
        f'<g stroke="{colour}" stroke-width="{_STROKE}" stroke-linecap="round"'
        f' stroke-linejoin="round">{lines}{filled}</g></svg>'
    ).encode()


class _Repainter(QObject):
    """A child of the owner of the icon, so that the connection ends with the owner."""

    def __init__(self, owner: QAbstractButton | QAction) -> None:
        super().__init__(owner)
        self._owner = owner

    def repaint(self) -> None:
        if isinstance(self._owner, QAction):
            # The only public way to make an action emit `changed`.
            self._owner.setIcon(QIcon(self._owner.icon()))
        else:
            self._owner.update()


class _ThemedEngine(QIconEngine):
    """Paints an icon in the current colour of its role."""

    _clones: list["_ThemedEngine"] = []  # noqa: RUF012 - shared on purpose
    """Qt owns a clone, but PySide releases its Python object when `clone` returns: referenced here
    until Qt has destroyed it."""

    def __init__(self, name: IconName, theme: ThemeModel, role: ColourRole) -> None:
        super().__init__()
        self._name = name
        self._theme = theme
        self._role = role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        draw_icon(painter, self._name, self._colour(mode), _square_in(QRectF(rect)))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(  # noqa: N802 - Qt's name
        self, size: QSize, mode: QIcon.Mode, _state: QIcon.State, scale: float
    ) -> QPixmap:
        return _pixmap(self._name, self._colour(mode), size, scale)

    def clone(self) -> QIconEngine:
        copy = _ThemedEngine(self._name, self._theme, self._role)
        self._clones[:] = [*(clone for clone in self._clones if isValid(clone)), copy]
        return copy

    def key(self) -> str:
        return "mosaic"

    def _colour(self, mode: QIcon.Mode) -> str:
        role = "disabled" if mode == QIcon.Mode.Disabled else self._role
        return str(getattr(self._theme.colours, role))


def _square_in(rect: QRectF) -> QRectF:
    side = min(rect.width(), rect.height())
    square = QRectF(0, 0, side, side)
    square.moveCenter(rect.center())
    return square


@lru_cache(maxsize=256)
def _renderer(name: IconName, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(svg(name, colour)))


def _pixmap(name: IconName, colour: str, size: QSize, scale: float) -> QPixmap:
    """`size` is in device-independent pixels; `scale` is the device pixel ratio."""
    key = f"mosaic icon {name} {colour} {size.width()} {size.height()} {scale}"
    pixmap = QPixmap()
    if QPixmapCache.find(key, pixmap):
        return pixmap
    pixmap = QPixmap(size * scale)
    if pixmap.isNull():
        return pixmap  # the size is empty
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_icon(painter, name, colour, _square_in(QRectF(pixmap.rect())))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    QPixmapCache.insert(key, pixmap)
    return pixmap
