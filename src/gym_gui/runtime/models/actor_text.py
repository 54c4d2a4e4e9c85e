"""Who acts, in a word: as the timeline, the list of episodes and the step inspector say it."""

import re
from collections.abc import Sequence

from gym_gui.runtime.models.run_text import short_id

HUMAN = "human"
_SAVED_POLICY = re.compile(r"(?P<run>[0-9A-Z]{26})\.[0-9a-f]+")


def actor_label(actor: str | None) -> str:
    """`you`, or the agent's own name; `agent` where it has none. A saved policy is called by the
    run that it comes from, as the list of runs tells runs apart."""
    if actor == HUMAN:
        return "you"
    if actor and (policy := _SAVED_POLICY.fullmatch(actor)):
        return f"policy {short_id(policy['run'])}"
    return actor.partition(":")[0].replace("_", " ") if actor else "agent"


def actors_label(actors: Sequence[str]) -> str:
    """Of an episode: `you + agent`."""
    return " + ".join(dict.fromkeys(actor_label(actor) for actor in actors)) or "agent"
