"""What the catalog says of a family and of an environment. Plain values: they go into JSON."""

from typing import Any, Literal

import msgspec

from mosaic.contract.parameters import Parameter
from mosaic.envs.key_maps import KeyMap

FamilyId = Literal["toy-text", "classic-control", "box2d", "mujoco", "atari", "minigrid", "other"]
ViewKind = Literal["grid", "frame", "text"]
ActionKind = Literal["discrete", "continuous", "unknown"]

BUNDLE = "session_worker"
"""The bundle that environments are played in."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """Environments that come together and need the same packages."""

    id: FamilyId
    title: str
    summary: str
    module: str
    """Importing this tells whether the family is installed."""
    extra: str | None = None
    """Of the bundle `session_worker`; null: the bundle has it in any case."""

    @property
    def installs(self) -> str:
        """The command after which environments of the family can be played."""
        extra = f" --extra {self.extra}" if self.extra else ""
        return f"mosaic bundles install {BUNDLE}{extra}"


class KeywordPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two fields that are one keyword together: the ends of a range, column and row of a cell."""

    keyword: str
    fields: tuple[str, str]
    within: str = ""
    """The field that says how large the square room is in which these are a cell."""


class ShownWhen(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that count only while another one has one of these values."""

    fields: tuple[str, ...]
    other: str
    values: tuple[str | bool, ...]


class EnvironmentEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One environment, in words and numbers."""

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
    """Of each action of a discrete space, of each number of a continuous one."""
    fields: tuple[Parameter, ...] = ()
    """What can be set; `mosaic.envs.configuration` turns values into keywords of `make`."""
    pairs: tuple[KeywordPair, ...] = ()
    shown_when: tuple[ShownWhen, ...] = ()
    """Fields that a form leaves out as long as they would change nothing."""
    ranges: tuple[tuple[str, str], ...] = ()
    """Pairs of fields of which the first must not be above the second."""
    map_field: str | None = None
    """The field that holds a map drawn in letters, one row a line."""
    keys: KeyMap = KeyMap()
    other_keys: tuple[KeyMap, ...] = ()
    """For the action spaces that fields can switch to."""
    views: tuple[ViewKind, ...] = ("frame",)
    """The one to begin with first. Only `frame` needs pictures from the environment."""
    render_fps: float = 30
    """Steps a second at which a person plays it."""
    turn_based: bool = False
    """It waits for the person instead of running on."""
    max_episode_steps: int | None = None
    is_generated: bool = False
    """Nobody described it: made from the id alone."""

    @property
    def defaults(self) -> dict[str, Any]:
        """Each field's value when nobody sets it."""
        return {field.name: field.default for field in self.fields}
