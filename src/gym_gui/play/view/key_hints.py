"""KeyHints: the keys of the environment, lit while pressed, and of session commands."""

from PySide6.QtWidgets import QWidget

from gym_gui.play.model.play_keys import SessionCommand
from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.key_hint import KeyHintLabel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.flow_layout import FlowLayout
from mosaic.envs.key_maps import KeyMap, key_cap

_COMMAND_LABELS: tuple[tuple[SessionCommand, str], ...] = (
    ("takeover", "take over"),
    ("pause", "pause"),
    ("step", "one step"),
    ("reset", "new episode"),
)
_MAX_AXES = 8
"""Axes beyond this number are listed in the environment help only."""


class KeyHints(QWidget):
    """Shows `PlayModel.keys` and the key map; rebuilt for each environment."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._of_environment: list[KeyHintLabel] = []
        self._of_session: dict[SessionCommand, KeyHintLabel] = {}
        self._flow = FlowLayout(self, gap=round(self.fontMetrics().height() * 0.6))
        model.environment_changed.connect(self._rebuild)
        model.keys_changed.connect(self._light)
        model.changed.connect(self._show_state)
        self._rebuild()

    def _rebuild(self) -> None:
        self._flow.clear()
        model = self._model
        keys = model.entry.keys if model.entry else KeyMap()
        self._of_environment = [
            KeyHintLabel([(key, key_cap(key)) for key in held], label, self._theme)
            for held, label in _hints(keys)
        ]
        for hint in self._of_environment:
            hint.pressed.connect(self._press)
            hint.released.connect(model.release_key)
            self._flow.addWidget(hint)
        self._of_session = {
            command: KeyHintLabel(
                [(model.keys.key(command), model.keys.cap(command))], label, self._theme
            )
            for command, label in _COMMAND_LABELS
        }
        for hint in self._of_session.values():
            hint.pressed.connect(self._press)
            self._flow.addWidget(hint)
        self._show_state()
        self._light()
        self.updateGeometry()

    def _press(self, key: str) -> None:
        self._model.request_keyboard()
        self._model.press(key)

    def _light(self) -> None:
        for hint in self._of_environment:
            for key in hint.keys:
                hint.set_lit(key, self._model.is_key_lit(key))

    def _show_state(self) -> None:
        model = self._model
        for hint in self._of_environment:
            hint.setEnabled(model.is_playing and not model.is_episode_finished)
            hint.setVisible(model.entry is not None)
        visible = {"takeover": model.has_agent, "step": model.can_single_step}
        for command, hint in self._of_session.items():
            is_blocked = command in ("pause", "step") and model.awaits_new_episode
            hint.setEnabled(model.is_playing and not is_blocked)
            hint.setVisible(model.entry is not None and visible.get(command, True))
        self._of_session["takeover"].set_label(
            "release" if model.state.is_taken_over else "take over"
        )
        resume = "start" if model.awaits_first_key else "resume"
        self._of_session["pause"].set_label(resume if model.is_paused else "pause")


def _hints(keys: KeyMap) -> list[tuple[tuple[str, ...], str]]:
    """Keys and labels; the four moves of a grid are merged into one hint."""
    alone = {binding.keys[0] for binding in keys.bindings if len(binding.keys) == 1}
    hints = [
        (binding.keys, binding.label)
        for binding in keys.bindings
        if len(binding.keys) == 1 or not alone.issuperset(binding.keys)
    ]
    hints += [
        ((*axis.down_keys[:1], *axis.up_keys[:1]), axis.label) for axis in keys.axes[:_MAX_AXES]
    ]
    return _with_moves_merged(hints)


def _with_moves_merged(
    hints: list[tuple[tuple[str, ...], str]],
) -> list[tuple[tuple[str, ...], str]]:
    """Merge `move left`, `move down`, … into `move`."""
    arrows = [hint for hint in hints if hint[0] in (("left",), ("down",), ("up",), ("right",))]
    verbs = {label.split(" ")[0] for _, label in arrows}
    if len(arrows) < 2 or len(verbs) != 1:
        return hints
    order = ("left", "down", "up", "right")
    together = tuple(sorted((keys[0] for keys, _ in arrows), key=order.index))
    return [(together, verbs.pop()), *(hint for hint in hints if hint not in arrows)]
