"""PairTimeline: one slider for two episodes, with the rewards of each in a separate row.

A dashed line marks the first difference; the row of the shorter episode ends with it.
"""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from gym_gui.compare.model.side_by_side_model import SideBySideModel
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.replay.view.reward_timeline import paint_bars
from gym_gui.runtime.models.formatting import format_signed, format_significant
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.timeline_slider import TimelineSlider, paint_track

_FUTURE = 0.55
_REDRAWS_WHILE_READING = 30
_ROW_LINES = 1.5
_GAP_LINES = 0.35


class PairTimeline(TimelineSlider):
    """Value k is the playhead after k steps of both. Shows `SideBySideModel`."""

    def __init__(
        self, model: SideBySideModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._bars: QPixmap | None = None
        self._bars_key: tuple[object, ...] = ()
        self.setAccessibleName("Timeline of both episodes")
        self.setAccessibleDescription(
            "Rewards by step, the left episode above the right one. Arrow keys move one step, Page"
            " keys a tenth of the episode."
        )
        self.valueChanged.connect(model.seek)
        model.changed.connect(self._update_range)
        model.pair_changed.connect(self._update_range)
        model.playhead_changed.connect(self._update_playhead)
        theme.changed.connect(self._repaint_all)
        self._update_range()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        rows = 2 * _ROW_LINES + _GAP_LINES
        return QSize(line * 24, round(line * (rows + 1.4)))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 10, self.sizeHint().height())

    def track_ends(self) -> tuple[float, float]:
        rect = self._row_rect(0)
        return rect.left(), rect.right()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        # The page handles Space; the slider handles its other keys.
        if event.key() == Qt.Key.Key_Space:
            event.ignore()
        else:
            self._model.pause()
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        self._bars = None
        super().resizeEvent(event)

    def tool_tip_at(self, index: int) -> str:
        divergence = self._model.divergence
        lines = [f"After {index:,} of {self.maximum():,} steps"]
        for name, side in zip(("left", "right"), self._model.sides, strict=True):
            lines.append(f"{name}: {_text_at(side, index)}")
        if divergence is not None and index == divergence.step + 1:
            lines.append("First difference")
        return "\n".join(lines)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._rendered_bars())
        self._paint_future(painter)
        self._paint_divergence(painter)
        self._paint_hover(painter)
        self._paint_rail(painter)
        painter.end()

    # Geometry.

    @property
    def _knob(self) -> float:
        return self.fontMetrics().height() * 0.42

    def _row_rect(self, number: int) -> QRectF:
        line = self.fontMetrics().height()
        left = self._knob + 2
        top = 2 + number * line * (_ROW_LINES + _GAP_LINES)
        return QRectF(left, top, max(1.0, self.width() - 2 * left), line * _ROW_LINES)

    def _x(self, index: float) -> float:
        rect = self._row_rect(0)
        return rect.left() + rect.width() * index / max(1, self.maximum())

    def _rail_y(self) -> float:
        return self.height() - self._knob - 2

    # Painting.

    def _rendered_bars(self) -> QPixmap:
        """Rendered again only when the rewards, the size or the theme change."""
        ratio = self.devicePixelRatioF()
        tracks = [side.track for side in self._model.sides]
        read = [len(track) * _REDRAWS_WHILE_READING // max(1, self.maximum()) for track in tracks]
        cache_key = (*map(id, tracks), *read, self.maximum(), self.size(), ratio)
        if self._bars is None or self._bars_key != cache_key:
            self._bars_key = cache_key
            self._bars = QPixmap(self.size() * ratio)
            self._bars.setDevicePixelRatio(ratio)
            self._bars.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._bars)
            for number, side in enumerate(self._model.sides):
                self._paint_row(painter, number, side)
            painter.end()
        return self._bars

    def _paint_row(self, painter: QPainter, number: int, side: ReplayModel) -> None:
        rect, colours = self._row_rect(number), self._theme.colours
        painter.fillRect(rect, QColor(colours.raised))
        if not side.steps:
            return
        rect.setRight(max(self._x(side.steps), rect.left() + 1))
        paint_bars(painter, rect, side.track, side.steps, colours)
        painter.setPen(QPen(QColor(colours.muted), 2))
        painter.drawLine(QPointF(rect.right(), rect.top()), QPointF(rect.right(), rect.bottom()))

    def _paint_future(self, painter: QPainter) -> None:
        veil = QColor(self._theme.colours.surface)
        veil.setAlphaF(_FUTURE)
        x = self._x(self.value())
        bottom = self._row_rect(1).bottom() + 1
        painter.fillRect(QRectF(x, 0, self.width() - x, bottom), veil)
        painter.setPen(QPen(QColor(self._theme.colours.text), 1))
        painter.drawLine(QPointF(x, 0), QPointF(x, self._rail_y()))

    def _paint_divergence(self, painter: QPainter) -> None:
        divergence = self._model.divergence
        if divergence is None or divergence.what in ("start", "unrecorded"):
            return
        ink = QColor(self._theme.colours.warning)
        x = self._x(divergence.step)
        painter.setPen(QPen(ink, 2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, 0), QPointF(x, self._rail_y()))
        # A fork, so that the shape marks it too, not only the colour.
        size = self.fontMetrics().height() * 0.3
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(ink, 2))
        middle = (self._row_rect(0).bottom() + self._row_rect(1).top()) / 2
        painter.drawLine(QPointF(x, middle), QPointF(x + size, middle - size))
        painter.drawLine(QPointF(x, middle), QPointF(x + size, middle + size))

    def _paint_hover(self, painter: QPainter) -> None:
        if self.hovered is not None and not self.isSliderDown():
            painter.setPen(QPen(QColor(self._theme.colours.muted), 1, Qt.PenStyle.DotLine))
            x = self._x(self.hovered)
            painter.drawLine(QPointF(x, 0), QPointF(x, self._rail_y()))

    def _paint_rail(self, painter: QPainter) -> None:
        ends = (self._x(0), self._x(self.maximum()))
        at = QPointF(self._x(self.value()), self._rail_y())
        paint_track(painter, self, ends, at, self._knob, self._theme.colours)

    # Updates from the model.

    def _update_range(self) -> None:
        self.show_range(self._model.steps, is_enabled=self._model.can_play)
        self._update_playhead()

    def _update_playhead(self) -> None:
        self.show_value(self._model.playhead)

    def _repaint_all(self) -> None:
        self._bars = None
        self.update()


def _text_at(side: ReplayModel, index: int) -> str:
    at = min(index, side.steps)
    total, reward = side.track.return_after(at), side.track.reward(at - 1)
    parts = [] if total is None else [f"return {format_significant(total)}"]
    if reward is not None and index <= side.steps:
        parts.append(f"reward {format_signed(reward)}")
    if index > side.steps:
        parts.append("finished")
    return ", ".join(parts) or "reading"
