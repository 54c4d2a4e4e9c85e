"""The way of a call through the layers that `gymnasium.make` puts around an environment.

`OrderEnforcing` and `PassiveEnvChecker` look at the first reset and the first steps; after that
they only pass calls on, and `TimeLimit` counts. Passing on takes as long as recording a step by
columns does. So once they have seen what they want to see, calls go past them, the recorder counts
for `TimeLimit`, and recording costs the training next to nothing.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

_HOME = "gymnasium.wrappers"
_LIMIT = "TimeLimit"
_DONE_WHEN = {
    _LIMIT: (),
    "OrderEnforcing": ("_has_reset",),
    "PassiveEnvChecker": ("checked_reset", "checked_step", "checked_data_reuse"),
}
_KNOWN_NAMES = frozenset(
    {
        *("env", "step", "reset", "super", "_elapsed_steps", "_max_episode_steps", "_has_reset"),
        *("ResetNeeded", "checked_reset", "checked_step", "checked_data_reuse", "_previous_data"),
        *("env_reset_passive_checker", "env_step_passive_checker"),
        "env_data_reuse_passive_checker",
    }
)
"""All that their methods refer to; one that refers to more does more, and is not gone past."""


class ShortWay:
    """Call `step` of `env`: the whole way at first, the innermost layer's once `is_taken`.

    When there is a `limit` then, whoever calls counts for it: up with each step, down to 0 with
    each reset.
    """

    __slots__ = ("_made", "env", "is_settled", "is_taken", "limit")

    def __init__(self, made: Any) -> None:
        self.env: Any = SimpleNamespace(step=made.step, reset=made.reset)
        self.limit: Any = None
        self.is_taken = False
        self.is_settled = not _only_passes_on(made)
        """Whether `look` would change nothing any more."""
        self._made = made

    def look(self) -> None:
        """Take the short way if the layers are done. Between episodes, until `is_settled`."""
        below, limit = self._made, None
        while below is self._made or _only_passes_on(below):  # `made` is tapped by now
            kind = type(below).__name__
            if not all(vars(below).get(name, True) for name in _DONE_WHEN[kind]):
                return
            if kind == _LIMIT:
                limit = below
            below = below.env
        self.env, self.limit = below, limit
        self.is_settled = self.is_taken = True


def _only_passes_on(layer: Any) -> bool:
    kind: Any = type(layer)
    if kind.__name__ not in _DONE_WHEN or not kind.__module__.startswith(_HOME):
        return False
    return all(_is_known(getattr(layer, name), getattr(kind, name)) for name in ("step", "reset"))


def _is_known(method: Any, function: Any) -> bool:
    """Whether nobody has replaced the method, and it refers to nothing that is not known."""
    is_own = getattr(method, "__func__", None) is function
    return is_own and _KNOWN_NAMES.issuperset(function.__code__.co_names)
