"""PlayKeys: the keys of session commands, which never overlap with keys of the environment.

`PlayModel` creates one per environment; `KeyHints` shows it and `KeyboardFocus` uses it.
"""

from typing import Literal, NamedTuple

from mosaic.envs.key_maps import KeyMap, key_cap

SessionCommand = Literal["pause", "step", "reset", "takeover", "again"]


class _KeyChoice(NamedTuple):
    command: SessionCommand
    keys: tuple[str, ...]
    """Candidates, most preferred first. The last is the shortcut of the same window command and
    always free."""


_KEY_CHOICES = (
    _KeyChoice("takeover", ("t", "ctrl+t")),
    _KeyChoice("pause", ("space", "p", "ctrl+space")),
    _KeyChoice("step", ("n", "f10")),
    _KeyChoice("reset", ("r", "ctrl+shift+r")),
)
_AFTER_EPISODE: dict[str, SessionCommand] = {"enter": "again"}
"""Keys after the end of an episode, when no key of the environment has an effect."""


class PlayKeys:
    """Maps keys to session commands and back."""

    def __init__(self, environment: KeyMap) -> None:
        self._by_key: dict[str, SessionCommand] = {}
        self._keys: dict[SessionCommand, str] = {"again": "enter"}
        for choice in _KEY_CHOICES:
            key = next(key for key in choice.keys if key not in environment.keys)
            self._by_key[key] = choice.command
            self._keys[choice.command] = key

    def command(self, key: str, *, is_finished: bool = False) -> SessionCommand | None:
        """The command of a key, or None."""
        if is_finished and key in _AFTER_EPISODE:
            return _AFTER_EPISODE[key]
        return self._by_key.get(key)

    def key(self, command: SessionCommand) -> str:
        return self._keys[command]

    def cap(self, command: SessionCommand) -> str:
        """The label of the key."""
        *modifiers, key = self.key(command).split("+")
        return "+".join([*(name.capitalize() for name in modifiers), key_cap(key)])
