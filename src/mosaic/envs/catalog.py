"""The environment catalog: descriptions and settings by id. Imports no environment.

Used by the window, `mosaic envs`, `mosaic play` and the actor service. An unknown id gets a
generated entry.
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
    summary="Environments that are not in the catalog: any registered id, or module:Id.",
    module="gymnasium",
)

_MODULES = (toy_text, classic_control, box2d, mujoco, atari, minigrid)
_VERSION = re.compile(r"-v\d+\Z")
_AFTER_CREATION = "Shown once the environment is created."
_SEE_DOCUMENTATION = "See the environment's documentation."
_ACTION_KINDS: dict[str, ActionKind] = {
    "discrete": "discrete",
    "multi_discrete": "discrete",
    "multi_binary": "discrete",
    "box": "continuous",
}


def families() -> tuple[Family, ...]:
    """Return all families in display order."""
    return tuple(module.FAMILY for module in _MODULES)


def family(family_id: str) -> Family:
    """Return the family with that id, or `OTHER`."""
    return next((entry for entry in families() if entry.id == family_id), OTHER)


def environments(family_id: str | None = None) -> tuple[EnvironmentEntry, ...]:
    """Return the listed environments, of all families or of one."""
    return tuple(
        entry for entry in _listed().values() if family_id is None or entry.family == family_id
    )


def environment(env_id: str) -> EnvironmentEntry:
    """Return the entry of any id; raises nothing.

    Older ids of Atari games (`PongNoFrameskip-v4`) and other versions of listed environments
    (`HalfCheetah-v4`) are recognised; for any other id the entry is generated.
    """
    known = _listed().get(env_id) or atari.entry_for_legacy_id(env_id)
    if known is not None:
        return known
    module, colon, plain_id = env_id.rpartition(":")
    if colon and module:
        return msgspec.structs.replace(environment(plain_id), env_id=env_id)
    if env_id.startswith(minigrid.PREFIXES):
        return minigrid.generated_entry(env_id)
    other = _find_other_version(env_id)
    return _entry_from_version(env_id, other) if other else _unknown(env_id)


def search(text: str) -> tuple[EnvironmentEntry, ...]:
    """Return the listed environments that contain all terms of `text`, best matches first."""
    terms = text.lower().split()
    matches = []
    for order, entry in enumerate(_listed().values()):
        names = f"{entry.env_id} {entry.title} {entry.family} {family(entry.family).title}".lower()
        description = f"{names} {entry.summary} {entry.goal}".lower()
        if all(term in description for term in terms):
            matches.append((not all(term in names for term in terms), order, entry))
    return tuple(entry for _, _, entry in sorted(matches, key=lambda match: match[:2]))


def with_action_space(
    entry: EnvironmentEntry,
    action_space: Mapping[str, Any],
    action_meanings: Sequence[str] | None = None,
) -> EnvironmentEntry:
    """Return the entry with a key map for the actual action space.

    `action_space` and `action_meanings` are those of the run's `environment` event.
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


def _find_other_version(env_id: str) -> EnvironmentEntry | None:
    """Return another listed version of the same environment."""
    name = _VERSION.sub("", env_id)
    return next(
        (entry for entry in _listed().values() if _VERSION.sub("", entry.env_id) == name), None
    )


def _entry_from_version(env_id: str, other: EnvironmentEntry) -> EnvironmentEntry:
    """Copy the fields that rarely change between versions."""
    return msgspec.structs.replace(
        other,
        env_id=env_id,
        title=f"{other.title} ({env_id})",
        summary=f"Another version of {other.env_id}: {other.summary}",
        observation=_AFTER_CREATION,
        rewards=_SEE_DOCUMENTATION,
        ends=_SEE_DOCUMENTATION,
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
        family="atari" if atari.has_prefix(env_id) else "other",
        title=title_from_id(env_id),
        summary=f"`{env_id}` is not in the catalog.",
        goal=_SEE_DOCUMENTATION,
        observation=_AFTER_CREATION,
        actions="Shown once the environment is created; keys are derived from its action space.",
        rewards=_SEE_DOCUMENTATION,
        ends=_SEE_DOCUMENTATION,
        action_kind="unknown",
        # Turn-based until the action space shows whether there is a no-op.
        turn_based=True,
        is_generated=True,
    )
