"""ScorePanel: tables of the final scores of groups and runs. Shows `ChartsModel`."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.charts.model.chart_confidence import BAND_TEXT
from gym_gui.charts.model.chart_group_scores import GroupColumn
from gym_gui.charts.model.chart_scores import ScoreColumn
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.score_view import ScoreView
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.labels import ElidedLabel

_GROUP_SAMPLES = ("00", "00,000.00 ± 0,000.00", "00,000.00", "00,000.00")
_RUN_SAMPLES = ("0000", "● preparing", "000,000,000", "00,000.00", "00,000.00")


class ScorePanel(QWidget):
    """The table of groups is hidden without groups."""

    def __init__(
        self, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.groups = ScoreView(
            model.group_scores,
            "Final scores of groups",
            _GROUP_SAMPLES,
            theme,
            sorted_by=GroupColumn.MEAN,
            hide_first=(GroupColumn.LOWEST, GroupColumn.HIGHEST),
        )
        self.runs = ScoreView(
            model.scores,
            "Final scores of runs",
            _RUN_SAMPLES,
            theme,
            sorted_by=ScoreColumn.LAST,
            hide_first=(ScoreColumn.STATE, ScoreColumn.SEED, ScoreColumn.STEPS),
        )
        self._note = ElidedLabel("caption")
        self._note.show_text(f"± {BAND_TEXT}, n runs")
        self.copy = QPushButton("Copy")
        self.copy.setToolTip("Copy the scores as tab-separated text (Ctrl+C)")
        self.save = QPushButton("Save as CSV")
        self.save.setToolTip("Save the scores as CSV files")
        footer = QHBoxLayout()
        footer.setSpacing(line // 2)
        footer.addWidget(self._note, 1)
        self._spacer = QLabel()
        footer.addWidget(self._spacer, 1)
        footer.addWidget(self.copy)
        footer.addWidget(self.save)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 2)
        layout.addWidget(self.groups)
        layout.addWidget(self.runs)
        layout.addLayout(footer)
        self.copy.clicked.connect(self.copy_all)
        self.save.clicked.connect(model.save_scores)
        for view in (self.groups, self.runs):
            view.copy_requested.connect(self.copy_all)
        model.group_scores.modelReset.connect(self._show_groups)
        self._show_groups()

    def copy_all(self) -> None:
        """Copy the groups, if there are any, an empty line and the runs."""
        tables = [self._model.scores.as_rows()]
        if self._model.group_scores.has_means:
            tables.insert(0, self._model.group_scores.as_rows())
        text = "\n\n".join("\n".join("\t".join(row) for row in rows) for rows in tables)
        QGuiApplication.clipboard().setText(text)

    def _show_groups(self) -> None:
        has_means = self._model.group_scores.has_means
        self.groups.setVisible(has_means)
        self._note.setVisible(has_means)
        self._spacer.setVisible(not has_means)
