"""Thumbnails: paints thumbnails of environments, with an icon until they are loaded."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.environments_model import RECENT, EnvironmentsModel
from gym_gui.widgets.icons import IconName, draw_icon

_RADIUS = 4.0
_GLYPHS: dict[str, IconName] = {
    "toy-text": "grid",
    "classic-control": "speed",
    "box2d": "takeover",
    "mujoco": "robot",
    "atari": "keyboard",
    "minigrid": "layout",
    "other": "command",
    RECENT: "refresh",
    "": "star",
}


class Thumbnails:
    """Shared by the environment field and the picker, so that each thumbnail is decoded once."""

    def __init__(self, environments: EnvironmentsModel, theme: ThemeModel) -> None:
        self._environments = environments
        self._theme = theme
        self._decoded: dict[str, QPixmap] = {}
        self._scaled: dict[tuple[str, int, int], QPixmap] = {}

    def paint(self, painter: QPainter, rect: QRectF, env_id: str, family: str) -> None:
        """Fit the thumbnail into `rect`, keeping its aspect ratio."""
        colours = self._theme.colours
        outline = QPainterPath()
        outline.addRoundedRect(rect, _RADIUS, _RADIUS)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(outline, QColor(colours.canvas))
        pixmap = self._scaled_to(env_id, rect, painter.device().devicePixelRatio())
        if pixmap is None:
            side = min(rect.width(), rect.height()) * 0.5
            icon_rect = QRectF(0, 0, side, side)
            icon_rect.moveCenter(rect.center())
            draw_icon(painter, glyph_of(family), colours.disabled, icon_rect)
        else:
            painter.setClipPath(outline)
            size = pixmap.deviceIndependentSize()
            left = rect.center().x() - size.width() / 2
            top = rect.center().y() - size.height() / 2
            painter.drawPixmap(QRectF(left, top, size.width(), size.height()).topLeft(), pixmap)
            painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.line), 1.0))
        painter.drawPath(outline)
        painter.restore()

    def _scaled_to(self, env_id: str, rect: QRectF, ratio: float) -> QPixmap | None:
        width, height = round(rect.width() * ratio), round(rect.height() * ratio)
        key = (env_id, width, height)
        if key in self._scaled:
            return self._scaled[key]
        full_size = self._full_size(env_id)
        if full_size is None:
            return None
        scaled = full_size.scaled(
            width,
            height,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        scaled.setDevicePixelRatio(ratio)
        self._scaled[key] = scaled
        return scaled

    def _full_size(self, env_id: str) -> QPixmap | None:
        if env_id not in self._decoded:
            png = self._environments.png(env_id)
            pixmap = QPixmap()
            if png is None or not pixmap.loadFromData(png):
                return None
            self._decoded[env_id] = pixmap
        return self._decoded[env_id]


def glyph_of(family: str) -> IconName:
    return _GLYPHS.get(family, "command")
