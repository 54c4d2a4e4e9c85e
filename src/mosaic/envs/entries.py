"""Catalog entries of families and environments. Plain values that serialise to JSON."""

import re
from typing import Any, Literal

import msgspec

from mosaic.contract.parameters import Parameter
from mosaic.envs.key_maps import KeyMap

FamilyId = Literal["toy-text", "classic-control", "box2d", "mujoco", "atari", "minigrid", "other"]
ViewKind = Literal["grid", "frame", "text"]
ActionKind = Literal["discrete", "continuous", "unknown"]

_VERSION = re.compile(r"-v\d+\Z")
_WORD = re.compile(
    r"[A-Z]\d+"  # S5
    r"|\d+[A-Za-z]*"  # 2Dlhb
    r"|[A-Z]+(?![a-z])"  # WFC
    r"|[A-Z]?[a-z]+"
)

BUNDLE = "session_worker"
"""The bundle that plays environments."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A group of environments that need the same packages."""

    id: FamilyId
    title: str
    summary: str
    module: str
    """Python module that is importable when the family is installed."""
    extra: str | None = None
    """Extra of the bundle `session_worker`; null: always included."""

    @property
    def install_command(self) -> str:
        """The command that installs the family."""
        extra = f" --extra {self.extra}" if self.extra else ""
        return f"mosaic bundles install {BUNDLE}{extra}"


class KeywordPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two fields of one keyword argument: the bounds of a range, or a column and a row."""

    keyword: str
    fields: tuple[str, str]
    within: str = ""
    """The field with the size of the square room that contains the cell."""


class ShownWhen(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that have an effect only while `other` has one of these values."""

    fields: tuple[str, ...]
    other: str
    values: tuple[str | bool, ...]


class EnvironmentEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Description and configuration of one environment."""

    env_id: str
    family: FamilyId
    title: str
    summary: str
    goal: str
    observation: str
    actions: str
    rewards: str
    ends: str
    action_kind: ActionKind
    action_meanings: tuple[str, ...] = ()
    """One per action of a discrete space, or per component of a continuous one."""
    fields: tuple[Parameter, ...] = ()
    """Settings; `mosaic.envs.configuration` converts their values to arguments of `make`."""
    pairs: tuple[KeywordPair, ...] = ()
    shown_when: tuple[ShownWhen, ...] = ()
    """Fields that forms hide while they have no effect."""
    ranges: tuple[tuple[str, str], ...] = ()
    """Pairs of fields, of which the first must not exceed the second."""
    map_field: str | None = None
    """The field with a map of letters, one line per row."""
    keys: KeyMap = KeyMap()
    other_keys: tuple[KeyMap, ...] = ()
    """Key maps for the action spaces that fields can select."""
    views: tuple[ViewKind, ...] = ("frame",)
    """Available views, the default first. Only `frame` needs rendered frames."""
    render_fps: float = 30
    """Steps per second in human play."""
    turn_based: bool = False
    """Whether it waits for each action of the player instead of running in real time."""
    max_episode_steps: int | None = None
    is_generated: bool = False
    """Whether the entry is generated from the id because the catalog does not list it."""

    @property
    def defaults(self) -> dict[str, Any]:
        """The default value of each field."""
        return {field.name: field.default for field in self.fields}


def title_from_id(env_id: str) -> str:
    """Derive a title: `module:space/SomeGame-v2` becomes `Some Game`."""
    name = _VERSION.sub("", env_id.rpartition(":")[2].rpartition("/")[2])
    return split_camel_case(name) or env_id


def split_camel_case(name: str) -> str:
    """Split a camel-case name: `SomeGame` becomes `Some Game`."""
    return " ".join(word[0].upper() + word[1:] for word in _WORD.findall(name))
