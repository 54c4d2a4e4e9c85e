"""Thumbnails: small pictures of environments, ready to be painted, with a glyph until they come."""

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
    """Shared by the environment field and the picker, so that a picture is decoded once."""

    def __init__(self, environments: EnvironmentsModel, theme: ThemeModel) -> None:
        self._environments = environments
        self._theme = theme
        self._decoded: dict[str, QPixmap] = {}
        self._scaled: dict[tuple[str, int, int], QPixmap] = {}

    def paint(self, painter: QPainter, frame: QRectF, env_id: str, family: str) -> None:
        """The whole picture inside `frame`, its aspect kept."""
        colours = self._theme.colours
        outline = QPainterPath()
        outline.addRoundedRect(frame, _RADIUS, _RADIUS)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(outline, QColor(colours.canvas))
        picture = self._scaled_to(env_id, frame, painter.device().devicePixelRatio())
        if picture is None:
            side = min(frame.width(), frame.height()) * 0.5
            place = QRectF(0, 0, side, side)
            place.moveCenter(frame.center())
            draw_icon(painter, glyph_of(family), colours.disabled, place)
        else:
            painter.setClipPath(outline)
            size = picture.deviceIndependentSize()
            left = frame.center().x() - size.width() / 2
            top = frame.center().y() - size.height() / 2
            painter.drawPixmap(QRectF(left, top, size.width(), size.height()).topLeft(), picture)
            painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.line), 1.0))
        painter.drawPath(outline)
        painter.restore()

    def _scaled_to(self, env_id: str, frame: QRectF, ratio: float) -> QPixmap | None:
        width, height = round(frame.width() * ratio), round(frame.height() * ratio)
        key = (env_id, width, height)
        if key in self._scaled:
            return self._scaled[key]
        whole = self._whole(env_id)
        if whole is None:
            return None
        scaled = whole.scaled(
            width,
            height,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        scaled.setDevicePixelRatio(ratio)
        self._scaled[key] = scaled
        return scaled

    def _whole(self, env_id: str) -> QPixmap | None:
        if env_id not in self._decoded:
            png = self._environments.png(env_id)
            picture = QPixmap()
            if png is None or not picture.loadFromData(png):
                return None
            self._decoded[env_id] = picture
        return self._decoded[env_id]


def glyph_of(family: str) -> IconName:
    return _GLYPHS.get(family, "command")
