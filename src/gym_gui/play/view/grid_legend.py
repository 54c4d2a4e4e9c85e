"""GridLegend: icon and name of each kind of cell and object in the scene."""

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.scene.grid_glyphs import draw_agent, draw_flag, draw_person, inner_square
from gym_gui.widgets.scene.grid_renderer import paint_cell, paint_start
from mosaic.envs.scenes.scene import Agent, GridCell, GridScene, LegendEntry


class GridLegend(QWidget):
    """Shows the legend of `PlayModel.scene`; rebuilt only when it changes."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._displayed: tuple[LegendEntry, ...] = ()
        line = self.fontMetrics().height()
        self._flow = FlowLayout(self, gap=round(line * 0.9))
        model.scene_changed.connect(self._show_scene)
        self._show_scene()

    def _show_scene(self) -> None:
        scene = self._model.scene
        legend = scene.legend if isinstance(scene, GridScene) else ()
        if legend == self._displayed:
            return
        self._displayed = legend
        self._flow.clear()
        for entry in legend:
            self._flow.addWidget(_Entry(entry, self._model, self._theme))
        self.updateGeometry()


class _Entry(QWidget):
    def __init__(self, entry: LegendEntry, model: PlayModel, theme: ThemeModel) -> None:
        super().__init__()
        self._model = model
        self._text = QLabel(entry.text)
        self._text.setProperty("role", "caption")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(self.fontMetrics().height() // 3)
        layout.addWidget(_Sample(entry, model, theme))
        layout.addWidget(self._text)
        if entry.sample == "agent":
            model.changed.connect(self._show_who_acts)
            self._show_who_acts()

    def _show_who_acts(self) -> None:
        by_person = self._model.person_acts or not self._model.has_agent
        text = "you" if by_person else self._model.actor_label
        if text != self._text.text():
            self._text.setText(text)


class _Sample(QWidget):
    """A small cell with the object."""

    def __init__(self, entry: LegendEntry, model: PlayModel, theme: ThemeModel) -> None:
        super().__init__()
        self._sample = entry.sample
        self._model = model
        self._theme = theme
        self.setFixedSize(self.sizeHint())
        self._by_person = True
        if entry.sample == "agent":
            model.changed.connect(self._show_who_acts)
            self._show_who_acts()
        theme.changed.connect(self.update)

    def _show_who_acts(self) -> None:
        by_person = self._model.person_acts or not self._model.has_agent
        if by_person != self._by_person:
            self._by_person = by_person
            self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        side = round(self.fontMetrics().height() * 1.15)
        return QSize(side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours, square = self._theme.colours, QRectF(self.rect())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(self._sample, GridCell):
            paint_cell(painter, square, self._sample, colours)
            if self._sample.kind == "start":
                paint_start(painter, square, colours)
        else:
            paint_cell(painter, square, GridCell(), colours)
            ink = QColor(colours.on_cell)
            if self._sample == "agent":
                body = QColor(colours.person if self._by_person else colours.agent)
                paper = QColor(colours.text if colours.is_dark else colours.surface)
                draw_agent(painter, square, Agent(0, 0), body, paper)
            elif self._sample == "passenger":
                draw_person(painter, inner_square(square, 0.6), ink)
            else:
                draw_flag(painter, inner_square(square, 0.6), ink)
        painter.end()
