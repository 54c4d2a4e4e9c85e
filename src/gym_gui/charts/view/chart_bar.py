"""ChartBar: x axis, smoothing, grouping, scale and export of the charts. Shows `ChartsModel`."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSlider,
    QToolButton,
    QWidget,
)

from gym_gui.charts.model.chart_runs import EACH, SEED
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.styling import set_disabled_reason

_SLIDER_LINES = 4
_FIELD_CHARACTERS = 9


class ChartBar(QWidget):
    """Wraps if there is not enough width."""

    export_requested = Signal(str)
    """`png` and `svg` of the visible charts, `csv` of all points, `scores` of the table."""
    folder_requested = Signal()
    """Open a folder of event files without a MOSAIC run."""

    def __init__(
        self, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.axis = SegmentedControl(
            (("step", "Steps"), ("episode", "Episodes"), ("time", "Time")), theme
        )
        self.axis.setAccessibleName("X axis")
        self.axis.set_option_tool_tip("time", "Time since the run started")
        self.smoothing = QSlider(Qt.Orientation.Horizontal)
        self.smoothing.setRange(0, 99)
        self.smoothing.setFixedWidth(line * _SLIDER_LINES)
        self.smoothing.setToolTip(
            "Exponential moving average; the raw curve stays behind it. 0 is off."
        )
        self._weight = QLabel()
        self._weight.setProperty("role", "value")
        self._weight.setMinimumWidth(self.fontMetrics().horizontalAdvance("0.00"))
        self.group_by = QComboBox()
        self.group_by.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.group_by.setMinimumContentsLength(_FIELD_CHARACTERS)
        self.group_by.setToolTip(
            "Average groups of runs; from three runs on with a 95 % confidence band."
        )
        self.log = QPushButton("Log")
        self.log.setCheckable(True)
        self.log.setToolTip("Logarithmic values")
        self.log.setAccessibleName("Logarithmic values")
        self.export = QToolButton()
        set_icon(self.export, "export", theme)
        self.export.setToolTip("Export charts or data")
        self.export.setAccessibleName("Export")
        self.folder = QToolButton()
        set_icon(self.folder, "folder", theme)
        self.folder.setToolTip("Open a folder of TensorBoard event files…")
        self.folder.setAccessibleName("Open a folder of event files")
        row = self._row = FlowLayout(self, gap=line * 2 // 3)
        row.addWidget(self.axis)
        row.addWidget(_labelled("Smooth", self.smoothing, self._weight))
        row.addWidget(_labelled("Mean over", self.group_by))
        row.addWidget(self.log)
        row.addWidget(self.export)
        row.addWidget(self.folder)
        self._subscribe()
        self.update_choices()

    def add(self, widget: QWidget) -> None:
        """Add a widget at the end."""
        self._row.addWidget(widget)

    def _subscribe(self) -> None:
        model = self._model
        self.axis.activated.connect(model.set_axis)
        self.smoothing.valueChanged.connect(self._on_smoothing)
        self.group_by.activated.connect(
            lambda _: model.set_group_by(str(self.group_by.currentData()))
        )
        self.log.toggled.connect(model.set_log)
        self.export.clicked.connect(self._open_menu)
        self.folder.clicked.connect(self.folder_requested)

    def update_choices(self) -> None:
        """Show the state of the model without emitting signals."""
        model = self._model
        self.axis.set_current(model.axis)
        if not self.smoothing.isSliderDown():
            self.smoothing.blockSignals(True)
            self.smoothing.setValue(round(model.smoothing * 100))
            self.smoothing.blockSignals(False)
        self._weight.setText(f"{model.smoothing:.2f}")
        self.log.blockSignals(True)
        self.log.setChecked(model.is_log)
        self.log.blockSignals(False)
        choices = [(EACH, "nothing"), *((field, _field_text(field)) for field in model.fields)]
        displayed = [
            (self.group_by.itemData(row), self.group_by.itemText(row))
            for row in range(self.group_by.count())
        ]
        if displayed != choices:
            self.group_by.clear()
            for field, text in choices:
                self.group_by.addItem(text, field)
        self.group_by.setCurrentIndex(self.group_by.findData(model.grouped_by))
        set_disabled_reason(
            self.export, "" if model.phase == "ready" else "No charts to export yet."
        )

    def _on_smoothing(self, percent: int) -> None:
        self._model.set_smoothing(percent / 100)
        self._weight.setText(f"{percent / 100:.2f}")

    def _open_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for kind, text in (
            ("png", "Visible charts as PNG"),
            ("svg", "Visible charts as SVG"),
            ("csv", "All points as CSV"),
            ("scores", "Final scores as CSV"),
        ):
            menu.addAction(text, partial(self.export_requested.emit, kind))
        menu.popup(self.export.mapToGlobal(self.export.rect().bottomLeft()))


def _field_text(field: str) -> str:
    return "seeds" if field == SEED else f"same {field.replace('_', ' ')}"


def _labelled(text: str, *widgets: QWidget) -> QWidget:
    box = QWidget()
    label = QLabel(text)
    label.setProperty("role", "muted")
    label.setBuddy(widgets[0])
    widgets[0].setAccessibleName(text)
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(box.fontMetrics().height() // 2)
    for widget in (label, *widgets):
        row.addWidget(widget)
    return box
