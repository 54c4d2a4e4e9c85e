"""The environment catalog: what there is, and what is known of any id. Imports no environment.

The window, `mosaic envs`, `mosaic play` and the actor service ask here. An id that the catalog
does not know still gets an entry, with what can be told from the id alone.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from mosaic.envs.entries import ActionKind, EnvironmentEntry, Family, title_from_id
from mosaic.envs.families import atari, box2d, classic_control, minigrid, mujoco, toy_text
from mosaic.envs.key_map_builders import key_map_for_space

OTHER = Family(
    id="other",
    title="Other",
    summary="Environments that are not in the catalog: any id that gymnasium knows, or module:Id.",
    module="gymnasium",
)

_MODULES = (toy_text, classic_control, box2d, mujoco, atari, minigrid)
_VERSION = re.compile(r"-v\d+\Z")
_SHOWN_LATER = "Shown once the environment is made."
_NOT_KNOWN = "As the environment's own documentation says."
_ACTION_KINDS: dict[str, ActionKind] = {
    "discrete": "discrete",
    "multi_discrete": "discrete",
    "multi_binary": "discrete",
    "box": "continuous",
}


def families() -> tuple[Family, ...]:
    """In the order in which they are shown."""
    return tuple(module.FAMILY for module in _MODULES)


def family(family_id: str) -> Family:
    """The family of an entry."""
    return next((each for each in families() if each.id == family_id), OTHER)


def environments(family_id: str | None = None) -> tuple[EnvironmentEntry, ...]:
    """All that the catalog lists, family by family, or one family."""
    return tuple(
        entry for entry in _listed().values() if family_id is None or entry.family == family_id
    )


def environment(env_id: str) -> EnvironmentEntry:
    """What is known of an environment; never fails.

    Other ids of games that are listed (`PongNoFrameskip-v4`) and other versions of environments
    (`HalfCheetah-v4`) are recognised; of any other id there is what can be generated.
    """
    known = _listed().get(env_id) or atari.entry_of_older_id(env_id)
    if known is not None:
        return known
    module, colon, plain_id = env_id.rpartition(":")
    if colon and module:
        return msgspec.structs.replace(environment(plain_id), env_id=env_id)
    if env_id.startswith(minigrid.PREFIXES):
        return minigrid.generated(env_id)
    relative = _relative(env_id)
    return _another_version(env_id, relative) if relative else _unknown(env_id)


def search(text: str) -> tuple[EnvironmentEntry, ...]:
    """The listed environments in whose id, title or words all words of `text` occur, best first."""
    words = text.lower().split()
    found = []
    for order, entry in enumerate(_listed().values()):
        names = f"{entry.env_id} {entry.title} {entry.family} {family(entry.family).title}".lower()
        told = f"{names} {entry.summary} {entry.goal}".lower()
        if all(word in told for word in words):
            found.append((not all(word in names for word in words), order, entry))
    return tuple(entry for _, _, entry in sorted(found, key=lambda each: each[:2]))


def with_action_space(
    entry: EnvironmentEntry,
    action_space: Mapping[str, Any],
    action_meanings: Sequence[str] | None = None,
) -> EnvironmentEntry:
    """The entry with keys for the space that its environment really has.

    `action_space` and `action_meanings` are those of the run's `environment` line.
    """
    keys = next((keys for keys in (entry.keys, *entry.other_keys) if keys.fits(action_space)), None)
    if keys is None:
        keys = key_map_for_space(action_space, action_meanings)
    meanings = tuple(action_meanings) if action_meanings else entry.action_meanings
    return msgspec.structs.replace(
        entry,
        keys=keys,
        action_kind=_ACTION_KINDS.get(str(action_space.get("type")), "unknown"),
        action_meanings=meanings if keys is entry.keys or action_meanings else (),
        turn_based=keys.idle is None if entry.is_generated else entry.turn_based,
    )


@cache
def _listed() -> dict[str, EnvironmentEntry]:
    entries = (
        *toy_text.ENTRIES,
        *classic_control.ENTRIES,
        *box2d.ENTRIES,
        *mujoco.ENTRIES,
        *atari.entries(),
        *minigrid.ENTRIES,
    )
    return {entry.env_id: entry for entry in entries}


def _relative(env_id: str) -> EnvironmentEntry | None:
    """Another version of the same environment."""
    name = _VERSION.sub("", env_id)
    return next(
        (entry for entry in _listed().values() if _VERSION.sub("", entry.env_id) == name), None
    )


def _another_version(env_id: str, relative: EnvironmentEntry) -> EnvironmentEntry:
    """What hardly ever changes between versions; the rest is left open."""
    return msgspec.structs.replace(
        relative,
        env_id=env_id,
        title=f"{relative.title} ({env_id})",
        summary=f"Another version of {relative.env_id}: {relative.summary}",
        observation=_SHOWN_LATER,
        rewards=_NOT_KNOWN,
        ends=_NOT_KNOWN,
        fields=(),
        pairs=(),
        shown_when=(),
        ranges=(),
        map_field=None,
        max_episode_steps=None,
        is_generated=True,
    )


def _unknown(env_id: str) -> EnvironmentEntry:
    return EnvironmentEntry(
        env_id=env_id,
        family="atari" if atari.owns(env_id) else "other",
        title=title_from_id(env_id),
        summary=f"`{env_id}` is not in the catalog.",
        goal=_NOT_KNOWN,
        observation=_SHOWN_LATER,
        actions="Shown once the environment is made; keys are made from its action space.",
        rewards=_NOT_KNOWN,
        ends=_NOT_KNOWN,
        action_kind="unknown",
        # It waits for the person until its action space tells whether it can do nothing.
        turn_based=True,
        is_generated=True,
    )
