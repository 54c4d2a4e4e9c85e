"""KeyHints: the keys of the environment, lit while they are held, and those of the session."""

from PySide6.QtWidgets import QWidget

from gym_gui.play.model.play_keys import Steering
from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.key_hint import KeyHint
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.flow_layout import FlowLayout
from mosaic.envs.key_maps import KeyMap, key_cap

_STEERING: tuple[tuple[Steering, str], ...] = (
    ("takeover", "take over"),
    ("pause", "pause"),
    ("step", "one step"),
    ("reset", "new episode"),
)
_MOST_AXES = 8
"""Of a robot with more joints the rest is in the help of the environment."""


class KeyHints(QWidget):
    """Made anew for each environment."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._of_environment: list[KeyHint] = []
        self._of_session: dict[Steering, KeyHint] = {}
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
            KeyHint([(key, key_cap(key)) for key in held], label, self._theme)
            for held, label in _hints(keys)
        ]
        for hint in self._of_environment:
            hint.pressed.connect(self._press)
            hint.released.connect(model.release_key)
            self._flow.addWidget(hint)
        self._of_session = {
            steering: KeyHint(
                [(model.keys.key(steering), model.keys.cap(steering))], label, self._theme
            )
            for steering, label in _STEERING
        }
        for hint in self._of_session.values():
            hint.pressed.connect(self._press)
            self._flow.addWidget(hint)
        self._show_state()
        self._light()
        self.updateGeometry()

    def _press(self, key: str) -> None:
        self._model.ask_for_keyboard()
        self._model.press(key)

    def _light(self) -> None:
        for hint in self._of_environment:
            for key in hint.keys:
                hint.set_lit(key, self._model.is_key_lit(key))

    def _show_state(self) -> None:
        model = self._model
        for hint in self._of_environment:
            hint.setEnabled(model.is_playing and not model.is_over)
            hint.setVisible(model.entry is not None)
        shown = {"takeover": model.has_agent, "step": model.can_single_step}
        for steering, hint in self._of_session.items():
            is_for_later = steering in ("pause", "step") and model.awaits_new_episode
            hint.setEnabled(model.is_playing and not is_for_later)
            hint.setVisible(model.entry is not None and shown.get(steering, True))
        self._of_session["takeover"].say("give back" if model.state.is_taken_over else "take over")
        going = "begin" if model.awaits_first_key else "go on"
        self._of_session["pause"].say(going if model.is_paused else "pause")


def _hints(keys: KeyMap) -> list[tuple[tuple[str, ...], str]]:
    """Keys and what they do; the four moves of a grid are one thing, move."""
    alone = {binding.keys[0] for binding in keys.bindings if len(binding.keys) == 1}
    found = [
        (binding.keys, binding.label)
        for binding in keys.bindings
        if len(binding.keys) == 1 or not alone.issuperset(binding.keys)
    ]
    found += [
        ((*axis.down_keys[:1], *axis.up_keys[:1]), axis.label) for axis in keys.axes[:_MOST_AXES]
    ]
    return _with_moves_together(found)


def _with_moves_together(
    hints: list[tuple[tuple[str, ...], str]],
) -> list[tuple[tuple[str, ...], str]]:
    """`move left`, `move down`, … say no more than the arrows on the caps do."""
    arrows = [hint for hint in hints if hint[0] in (("left",), ("down",), ("up",), ("right",))]
    verbs = {label.split(" ")[0] for _, label in arrows}
    if len(arrows) < 2 or len(verbs) != 1:
        return hints
    order = ("left", "down", "up", "right")
    together = tuple(sorted((keys[0] for keys, _ in arrows), key=order.index))
    return [(together, verbs.pop()), *(hint for hint in hints if hint not in arrows)]
