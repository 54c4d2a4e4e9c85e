"""PlayKeys: the keys that steer a session, chosen so that none of the environment's is taken.

`PlayModel` makes one for each environment; the key hints print it, the keyboard obeys it.
"""

from typing import Literal, NamedTuple

from mosaic.envs.key_maps import KeyMap, key_cap

Steering = Literal["pause", "step", "reset", "takeover", "again"]


class _Wish(NamedTuple):
    steering: Steering
    keys: tuple[str, ...]
    """The first that the environment leaves free; the last always is. It starts the command of
    the window that does the same."""


_WISHES = (
    _Wish("takeover", ("t", "ctrl+t")),
    _Wish("pause", ("space", "p", "ctrl+space")),
    _Wish("step", ("n", "f10")),
    _Wish("reset", ("r", "ctrl+shift+r")),
)
_AT_THE_END: dict[str, Steering] = {"enter": "again"}
"""Only once the episode is over, when no key of the environment does anything."""


class PlayKeys:
    """What each key does to the session, and what is printed on it."""

    def __init__(self, environment: KeyMap) -> None:
        self._by_key: dict[str, Steering] = {}
        self._keys: dict[Steering, str] = {"again": "enter"}
        for wish in _WISHES:
            key = next(key for key in wish.keys if key not in environment.keys)
            self._by_key[key] = wish.steering
            self._keys[wish.steering] = key

    def steering(self, key: str, *, is_over: bool = False) -> Steering | None:
        """What the key does to the session, if it does anything."""
        if is_over and key in _AT_THE_END:
            return _AT_THE_END[key]
        return self._by_key.get(key)

    def key(self, steering: Steering) -> str:
        return self._keys[steering]

    def cap(self, steering: Steering) -> str:
        """The key as it is printed."""
        *modifiers, key = self.key(steering).split("+")
        return "+".join([*(name.capitalize() for name in modifiers), key_cap(key)])
