"""The keys that steer a session, beside those of the environment, which come first."""

from typing import Literal, NamedTuple

from mosaic.envs.key_maps import KeyHint, KeyMap, key_cap

Steering = Literal["next", "reset", "takeover", "pause", "step", "faster", "slower", "help", "quit"]


class _SessionKey(NamedTuple):
    steering: Steering
    keys: tuple[str, ...]
    """The first that the environment leaves free is the one that is shown; all free ones work."""
    label: str
    needs_agent: bool = False


# Those that lead on and out first: where room is short, the last ones are not shown.
_KEYS = (
    _SessionKey("help", ("?",), "help"),
    _SessionKey("quit", ("q", "escape"), "quit"),
    _SessionKey("next", ("n", "enter"), "next episode"),
    _SessionKey("reset", ("r", "backspace"), "begin again"),
    _SessionKey("takeover", ("t", "space"), "take over, give back", needs_agent=True),
    _SessionKey("pause", ("p", "o"), "pause, go on", needs_agent=True),
    _SessionKey("step", (".",), "one step while paused", needs_agent=True),
    _SessionKey("faster", ("+", "="), "faster", needs_agent=True),
    _SessionKey("slower", ("-", "_"), "slower", needs_agent=True),
)


_LONG_CAPS = {"escape": "Esc", "backspace": "Backspace"}


class SessionKeys:
    """What each key does in one session."""

    def __init__(self, environment: KeyMap, *, has_agent: bool) -> None:
        self._environment = environment
        taken = environment.keys
        self._steering: dict[str, Steering] = {}
        self._caps: dict[Steering, str] = {}
        hints = []
        for each in _KEYS:
            free = [key for key in each.keys if key not in taken]
            if not free or (each.needs_agent and not has_agent):
                continue
            self._steering |= dict.fromkeys(free, each.steering)
            self._caps[each.steering] = _LONG_CAPS.get(free[0]) or key_cap(free[0])
            hints.append(KeyHint((self._caps[each.steering],), each.label))
        self.hints: tuple[KeyHint, ...] = (*environment.hints(), *hints)

    def steering(self, key: str) -> Steering | None:
        """What the key does to the session, if it does anything."""
        return self._steering.get(key)

    def cap(self, steering: Steering) -> str:
        """The key for it, as it is printed."""
        return self._caps.get(steering, "")

    def is_action(self, key: str) -> bool:
        """Whether the environment has a use for it."""
        return key in self._environment.keys
