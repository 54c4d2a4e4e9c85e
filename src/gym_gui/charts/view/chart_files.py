"""Export of charts as PNG or SVG, with a legend.

Renders on the UI thread, which takes some milliseconds. The returned function writes the file.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QImageWriter, QPainter, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from gym_gui.charts.view.run_colours import run_colour
from gym_gui.runtime.models.theme_model import Colours

Labels = Sequence[tuple[int, str]]
"""Colour indices and names of the legend."""
_SCALE = 2


def render_chart(
    widget: QWidget, labels: Labels, colours: Colours, suffix: str
) -> Callable[[Path], None]:
    """Render `widget`; the returned function writes the file, on any thread."""
    metrics = widget.fontMetrics()
    pad = metrics.height()
    legend = _legend_rows(labels, metrics, widget.width())
    top = pad + len(legend) * round(metrics.height() * 1.5)
    size = QSize(widget.width() + 2 * pad, widget.height() + top + pad)
    if suffix == "svg":
        return _as_svg(widget, legend, colours, size, QPoint(pad, top))
    image = QImage(size * _SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_SCALE)
    painter = QPainter(image)
    _paint(painter, widget, legend, colours, size, QPoint(pad, top))
    painter.end()

    def write(path: Path) -> None:
        writer = QImageWriter(str(path), QByteArray(b"png"))
        if not writer.write(image):
            raise OSError(writer.errorString())

    return write


def _as_svg(
    widget: QWidget, legend: list[Labels], colours: Colours, size: QSize, offset: QPoint
) -> Callable[[Path], None]:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(QPoint(), size))
    generator.setTitle("MOSAIC charts")
    painter = QPainter(generator)
    _paint(painter, widget, legend, colours, size, offset)
    painter.end()
    buffer.close()
    content = bytes(data.data())

    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def _paint(
    painter: QPainter,
    widget: QWidget,
    legend: list[Labels],
    colours: Colours,
    size: QSize,
    offset: QPoint,
) -> None:
    painter.fillRect(QRect(QPoint(), size), QColor(colours.surface))
    painter.save()
    painter.setFont(widget.font())
    line = widget.fontMetrics().height()
    y = line * 0.7
    for row in legend:
        x = float(offset.x())
        for number, name in row:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(run_colour(number, colours))
            painter.drawRoundedRect(QRectF(x, y + line * 0.2, line * 0.6, line * 0.6), 2, 2)
            painter.setPen(QColor(colours.text))
            width = widget.fontMetrics().horizontalAdvance(name)
            painter.drawText(
                QRectF(x + line, y, width + line, line), Qt.AlignmentFlag.AlignVCenter, name
            )
            x += width + 2.5 * line
        y += line * 1.5
    # The state of the painter also applies to the widget.
    painter.restore()
    widget.render(painter, offset, QRegion(), QWidget.RenderFlag.DrawChildren)


def _legend_rows(labels: Labels, metrics: QFontMetrics, width: int) -> list[Labels]:
    rows: list[list[tuple[int, str]]] = []
    left = width + 1.0
    for number, name in labels:
        needed = metrics.horizontalAdvance(name) + 2.5 * metrics.height()
        if left + needed > width:
            rows.append([])
            left = 0.0
        rows[-1].append((number, name))
        left += needed
    return list(rows)
