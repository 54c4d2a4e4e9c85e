"""What an action means, in a word: as the environment said, else as the catalog does."""

import json
from collections.abc import Sequence
from typing import Any

from gym_gui.runtime.models.number_text import significant
from mosaic.contract.events import EnvironmentEvent
from mosaic.envs.catalog import environment as catalogued


def action_word(action: Any, environment: EnvironmentEvent | None) -> str:
    """`2 · main engine`, `[0.25, -1]`; anything else as JSON."""
    if isinstance(action, bool) or action is None:
        return json.dumps(action)
    if isinstance(action, int):
        names, start = _meanings(environment)
        at = action - start
        return f"{action} · {names[at].lower()}" if 0 <= at < len(names) else str(action)
    if isinstance(action, float):
        return significant(action)
    if isinstance(action, list) and all(isinstance(part, int | float) for part in action):
        return f"[{', '.join(significant(part) for part in action)}]"
    return json.dumps(action, ensure_ascii=False, default=str)


def _meanings(environment: EnvironmentEvent | None) -> tuple[Sequence[str], int]:
    if environment is None:
        return (), 0
    space = environment.action_space if isinstance(environment.action_space, dict) else {}
    start = space.get("start", 0)
    names: Sequence[str] = environment.action_meanings or ()
    if not names:
        listed = catalogued(environment.env_id).action_meanings
        names = listed if space.get("n") in (None, len(listed)) else ()
    return names, start if isinstance(start, int) else 0
