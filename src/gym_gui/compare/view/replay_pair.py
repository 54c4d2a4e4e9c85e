"""ReplayPair: two replays side by side with a common timeline. Shows `CompareModel`."""

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.compare.model.compare_model import CompareModel
from gym_gui.compare.model.compare_text import divergence_text, pair_text, start_text
from gym_gui.compare.view.pair_timeline import PairTimeline
from gym_gui.compare.view.replay_side import ReplaySide
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.labels import ElidedLabel
from gym_gui.widgets.transport_bar import TransportBar, handle_key

_LAST, _BEST, _CHOSEN = "last", "best", "chosen"


class ReplayPair(QWidget):
    """Fetches nothing before it is visible. J goes to the first difference."""

    def __init__(
        self, model: CompareModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._choices: list[tuple[str, object]] = []
        line = self.fontMetrics().height()
        self.left = ReplaySide(model.replays.left, "left", theme)
        self.right = ReplaySide(model.replays.right, "right", theme)
        self.episodes = QComboBox()
        self.episodes.setAccessibleName("Episodes")
        self.episodes.setToolTip("Episodes to compare: with the same start, or others")
        self.episodes.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.episodes.setMinimumContentsLength(16)
        self.episodes.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.start = Badge("", "plain", theme)
        label = QLabel("Episodes")
        label.setProperty("role", "muted")
        label.setBuddy(self.episodes)
        self.swap = QToolButton()
        self.swap.setText("Swap")
        self.swap.setToolTip("Swap left and right")
        self.timeline = PairTimeline(model.replays, theme)
        self.transport = TransportBar(model.replays, "step", theme)
        self.jump = QPushButton("Go to first difference")
        self.jump.setAccessibleName("Go to first difference")
        self.transport.trailing.addSpacing(line // 2)
        self.transport.trailing.addWidget(self.jump)
        self._divergence = ElidedLabel("muted")
        header = QHBoxLayout()
        header.setSpacing(line // 2)
        for widget in (label, self.episodes, self.start, self.swap):
            header.addWidget(widget, 1 if widget is self.episodes else 0)
        sides = QHBoxLayout()
        sides.setSpacing(line * 2 // 3)
        sides.addWidget(self.left, 1)
        sides.addWidget(self.right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 3 // 4, line // 3, line * 3 // 4, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(header)
        layout.addLayout(sides, 1)
        layout.addWidget(self._divergence)
        layout.addWidget(self.timeline)
        layout.addWidget(self.transport)
        self.setFocusProxy(self.left.canvas)
        self._subscribe()
        self._show_all()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.watch()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        self._model.replays.pause()
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_J and not event.modifiers():
            self._model.replays.seek_to_divergence()
        elif not handle_key(event, self._model.replays):
            super().keyPressEvent(event)

    def _subscribe(self) -> None:
        model, replays = self._model, self._model.replays
        self.left.run_chosen.connect(model.set_left)
        self.right.run_chosen.connect(model.set_right)
        self.left.episode_chosen.connect(lambda _: self._choose_by_number())
        self.right.episode_chosen.connect(lambda _: self._choose_by_number())
        self.swap.clicked.connect(model.swap)
        self.episodes.activated.connect(self._choose)
        self.jump.clicked.connect(replays.seek_to_divergence)
        model.changed.connect(self._show_all)
        for signal in (replays.changed, replays.pair_changed, replays.playhead_changed):
            signal.connect(self._show_state)

    def _choose_by_number(self) -> None:
        self._model.choose_episodes(self.left.episode.value(), self.right.episode.value())

    def _choose(self, row: int) -> None:
        chosen = self.episodes.itemData(row)
        if chosen == _LAST:
            self._model.choose_last()
        elif chosen == _BEST:
            self._model.choose_best()
        elif chosen != _CHOSEN and self._model.pairs:
            self._model.choose_pair(self._model.pairs[chosen])

    def _show_all(self) -> None:
        model = self._model
        runs = list(model.titles.items())
        self.left.show_runs(runs, model.left)
        self.right.show_runs(runs, model.right)
        self._show_choices()
        self._show_state()

    def _show_choices(self) -> None:
        model = self._model
        choices: list[tuple[str, object]] = [
            (pair_text(pair), number) for number, pair in enumerate(model.pairs or ())
        ]
        choices += [("best of each", _BEST), ("last of each", _LAST)]
        if model.selection == "chosen":
            choices.append(("chosen by number", _CHOSEN))
        with QSignalBlocker(self.episodes):
            if choices != self._choices:
                self._choices = choices
                self.episodes.clear()
                for text, data in choices:
                    self.episodes.addItem(text, data)
            current: object = model.selection
            if model.pair is not None and model.pairs and model.pair in model.pairs:
                current = model.pairs.index(model.pair)
            self.episodes.setCurrentIndex(
                next((row for row, choice in enumerate(choices) if choice[1] == current), -1)
            )

    def _show_state(self) -> None:
        replays = self._model.replays
        text, tone = start_text(replays, self._model.pairs)
        self.start.show_text(text, tone)
        self.start.setVisible(bool(text))
        difference = divergence_text(replays)
        self._divergence.show_text(difference)
        can_jump = replays.has_divergence
        self.jump.setEnabled(can_jump)
        self.jump.setToolTip("Go to the first step that differs (J)" if can_jump else difference)
        self.transport.show_state(
            f"{replays.playhead:,} / {replays.steps:,} steps" if replays.can_play else "",
            "",
            is_enabled=replays.can_play,
        )
