"""GridGeometry: where each cell of a grid is, in a given room. Whole pixels, so edges are crisp."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF

_GAP_SHARE = 0.035
_MAX_CELL_SHARE = 0.24
"""Of the room's larger side: three cells must not fill a wall."""


@dataclass(frozen=True, slots=True)
class GridGeometry:
    """`side` is that of a cell without the gap to its neighbours."""

    rows: int
    columns: int
    left: float
    top: float
    side: float
    gap: float

    @classmethod
    def fitting(cls, rows: int, columns: int, room: QSizeF, margin: float) -> "GridGeometry":
        """In the middle of the room, as large as it can be."""
        width, height = room.width() - 2 * margin, room.height() - 2 * margin
        most = _MAX_CELL_SHARE * max(room.width(), room.height())
        pitch = max(2.0, min(width / columns, height / rows, most))
        pitch = float(int(pitch))
        gap = max(1.0, round(pitch * _GAP_SHARE))
        left = int((room.width() - pitch * columns + gap) / 2)
        top = int((room.height() - pitch * rows + gap) / 2)
        return cls(rows, columns, float(left), float(top), pitch - gap, gap)

    @property
    def pitch(self) -> float:
        return self.side + self.gap

    @property
    def board(self) -> QRectF:
        width = self.pitch * self.columns - self.gap
        return QRectF(self.left, self.top, width, self.pitch * self.rows - self.gap)

    def cell(self, row: int, column: int) -> QRectF:
        left = self.left + column * self.pitch
        return QRectF(left, self.top + row * self.pitch, self.side, self.side)

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """Row and column; None beside the board."""
        if not self.board.contains(point):
            return None
        row = int((point.y() - self.top) / self.pitch)
        column = int((point.x() - self.left) / self.pitch)
        return min(row, self.rows - 1), min(column, self.columns - 1)
