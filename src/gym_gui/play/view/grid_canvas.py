"""GridCanvas: the scene of the environment as vector graphics.

The tooltip of a cell lists its content, number of visits and value.
"""

from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QSize
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.scene.grid_renderer import (
    Cell,
    GridOverlay,
)
from gym_gui.widgets.scene.scene_renderer import SceneRenderer
from mosaic.envs.scenes.scene import GridScene

Heat = Literal["off", "visits", "values"]

_SHADES = 16


class GridCanvas(QWidget):
    """Shows `PlayModel.scene`; `GridPage` holds the controls."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._heat: Heat = "off"
        self._has_arrows = True
        self._renderer = SceneRenderer(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Grid")
        model.scene_changed.connect(self.update)
        model.changed.connect(self.update)
        theme.changed.connect(self.update)

    def set_heat(self, heat: Heat) -> None:
        self._heat = heat
        self.update()

    def set_arrows(self, has_arrows: bool) -> None:
        self._has_arrows = has_arrows
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        side = self.fontMetrics().height() * 12
        return QSize(side, side)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        side = self.fontMetrics().height() * 8
        return QSize(side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        scene = self._model.scene
        painter = QPainter(self)
        if scene is not None:
            self._renderer.paint(painter, scene, self._theme.colours, self._overlay())
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            text = self.text_at(QPointF(event.pos()))
            if text:
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def text_at(self, point: QPointF) -> str:
        """Tooltip of the cell at a point; empty outside of the grid."""
        scene = self._model.scene
        if not isinstance(scene, GridScene):
            return ""
        position = self._renderer.geometry(scene).cell_at(point)
        return "" if position is None else self._cell_text(scene, position)

    def _cell_text(self, scene: GridScene, position: Cell) -> str:
        row, column = position
        cell = scene.cells[row][column]
        policy, visits = self._model.policy, self._model.visits.counts[position]
        things = [cell.label or cell.kind]
        things += [
            f"{mark.kind} ({mark.label})"
            for mark in scene.markers
            if (mark.row, mark.column) == position
        ]
        if scene.agent is not None and (scene.agent.row, scene.agent.column) == position:
            carried = scene.agent.carrying
            things.append(f"the agent with a {carried.label}" if carried else "the agent")
        lines = [f"Row {row + 1}, column {column + 1}: {', '.join(things)}"]
        lines.append(f"Visited {visits} time{'' if visits == 1 else 's'}")
        if position in policy.values:
            lines.append(f"Value {policy.values[position]:.3g}")
        intention = policy.arrows.get(position) or policy.labels.get(position)
        if intention:
            lines.append(f"Policy: {intention}")
        return "\n".join(lines)

    def _overlay(self) -> GridOverlay:
        model = self._model
        return GridOverlay(
            heat=self._heat_shares(),
            arrows=model.policy.arrows if self._has_arrows else {},
            labels=model.policy.labels if self._has_arrows else {},
            is_human=model.person_acts or not model.has_agent,
        )

    def _heat_shares(self) -> dict[Cell, float]:
        if self._heat == "visits":
            max_visits = self._model.visits.max_count
            # The square root keeps rarely visited cells visible. Quantized to a few shades, so
            # that not every step repaints every cell.
            return {
                position: round((count / max_visits) ** 0.5 * _SHADES) / _SHADES
                for position, count in self._model.visits.counts.items()
            }
        return self._model.policy.heat if self._heat == "values" else {}
