"""ReproducePart: how to make the run once more, exactly."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.model.run_summary import Fact
from gym_gui.run_page.view.fact_grid import FactGrid
from gym_gui.run_page.view.fitted_text import TextCard
from gym_gui.run_page.view.packages_view import PackagesView
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.set_disabled_reason import set_disabled_reason


class ReproducePart(QScrollArea):
    """Scrolls where it is low."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.command = TextCard("Start the same run again", theme)
        self.command.say_hint(
            f"In a terminal; with `--home {model.home}`, unless that is where it looks anyway."
        )
        self._by_hand = QLabel(
            "A person played it, so no command makes it again. Replay shows exactly what was done."
        )
        self._by_hand.setProperty("role", "muted")
        self._by_hand.setWordWrap(True)
        self.worker_command = TextCard("What the worker was started with", theme)
        self.environment = FactGrid()
        self.packages = PackagesView(model, theme)
        heading = QLabel("What else it depends on")
        heading.setProperty("role", "heading")
        self._export = QPushButton("Export all as JSON")
        self._export.setToolTip("Commands, configuration, bundle and packages in one file")
        self._export.clicked.connect(model.export_json)
        head = QHBoxLayout()
        head.addWidget(heading, 1)
        head.addWidget(self._export)
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(line, line * 2 // 3, line, line)
        layout.setSpacing(line * 2 // 3)
        layout.addWidget(self.command)
        layout.addWidget(self._by_hand)
        layout.addWidget(self.worker_command)
        layout.addLayout(head)
        layout.addWidget(self.environment)
        layout.addWidget(self.packages)
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        model.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        model = self._model
        self.command.say(model.train_command)
        self._by_hand.setVisible(model.is_by_hand)
        self.worker_command.say(model.worker_command)
        self.environment.show_facts([Fact(name, value) for name, value in model.environment])
        set_disabled_reason(
            self._export, "" if model.shown.is_known else "The run is not known yet."
        )
