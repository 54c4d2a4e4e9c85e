"""Who acts, in a word: as the timeline, the list of episodes and the step inspector say it."""

from collections.abc import Sequence

HUMAN = "human"


def actor_word(actor: str | None) -> str:
    """`you`, or the agent's own name; `agent` where it has none."""
    if actor == HUMAN:
        return "you"
    return actor.partition(":")[0].replace("_", " ") if actor else "agent"


def actors_words(actors: Sequence[str]) -> str:
    """Of an episode: `you + agent`."""
    return " + ".join(dict.fromkeys(actor_word(actor) for actor in actors)) or "agent"
