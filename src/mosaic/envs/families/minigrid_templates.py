"""What MiniGrid's rooms have in common, and how an entry is made of a kind of room."""

from collections.abc import Mapping
from typing import Any

import msgspec

from mosaic.contract.parameters import Parameter
from mosaic.envs.entries import EnvironmentEntry, KeywordPair
from mosaic.envs.fields import boolean, choice, integer
from mosaic.envs.key_map_builders import discrete_keys

_MEANINGS = ("turn left", "turn right", "forward", "pick up", "drop", "toggle", "done")
_KEYS = discrete_keys(
    {
        "left": (0, "turn left"),
        "right": (1, "turn right"),
        "up": (2, "forward"),
        "e": (3, "pick up"),
        "q": (4, "drop"),
        "space": (5, "open, or use"),
        "enter": (6, "done"),
    }
)
_WALKING_KEYS = discrete_keys(
    {"left": (0, "turn left"), "right": (1, "turn right"), "up": (2, "forward")}
)
_OBSERVATION = (
    "The 7 by 7 cells ahead, each as object, colour and state, the direction you face (0 is right,"
    " then clockwise), and the mission as text."
)
_WIDEST = 30
_SUCCESS = "For success 1, less up to 0.9 the longer it took; else 0."

AGENT_START = KeywordPair(keyword="agent_start_pos", fields=("agent_start_x", "agent_start_y"))
AGENT_START_IN_SIZE = msgspec.structs.replace(AGENT_START, within="size")
AGENT_POSITION = KeywordPair(keyword="agent_pos", fields=("agent_x", "agent_y"))
GOAL_POSITION = KeywordPair(keyword="goal_pos", fields=("goal_x", "goal_y"))


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """Rooms that differ in a few numbers only."""

    title: str
    summary: str
    goal: str
    ends: str
    variants: dict[str, tuple[str, dict[str, Any]]]
    """By id: what the title adds, and the fields' defaults that are other than in `fields`."""
    fields: tuple[Parameter, ...] = ()
    pairs: tuple[KeywordPair, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()
    rewards: str = _SUCCESS
    steps: str = ""
    """How many steps there are by default, in words; empty: it says so itself, or has no field."""
    only_walks: bool = False
    """There are three actions instead of seven."""

    def entries(self) -> tuple[EnvironmentEntry, ...]:
        return tuple(
            self._entry(env_id, label, defaults)
            for env_id, (label, defaults) in self.variants.items()
        )

    def _entry(self, env_id: str, label: str, defaults: Mapping[str, Any]) -> EnvironmentEntry:
        fields = tuple(_with_default(field, defaults) for field in self.fields)
        if self.steps:
            fields = (*fields, step_limit(self.steps))
        return grid_entry(
            env_id=env_id,
            title=f"{self.title} {label}".strip(),
            summary=self.summary,
            goal=self.goal,
            rewards=self.rewards,
            ends=self.ends,
            fields=fields,
            pairs=self.pairs,
            ranges=self.ranges,
            only_walks=self.only_walks,
        )


def grid_entry(
    *,
    env_id: str,
    title: str,
    summary: str,
    goal: str,
    ends: str,
    fields: tuple[Parameter, ...] = (),
    pairs: tuple[KeywordPair, ...] = (),
    ranges: tuple[tuple[str, str], ...] = (),
    rewards: str = _SUCCESS,
    only_walks: bool = False,
    is_generated: bool = False,
) -> EnvironmentEntry:
    """An environment of MiniGrid or BabyAI; what all of them share is filled in."""
    return EnvironmentEntry(
        env_id=env_id,
        family="minigrid",
        title=title,
        summary=summary,
        goal=goal,
        observation=_OBSERVATION,
        actions=(
            "Turn left or right, or go forward."
            if only_walks
            else "Turn, go forward, pick up, drop, toggle what is ahead (doors, boxes), and done."
        ),
        action_meanings=_MEANINGS[:3] if only_walks else _MEANINGS,
        rewards=rewards,
        ends=ends,
        action_kind="discrete",
        fields=(*fields, *_SIGHT),
        pairs=pairs,
        ranges=ranges,
        keys=_WALKING_KEYS if only_walks else _KEYS,
        views=("grid", "frame"),
        render_fps=10,
        turn_based=True,
        is_generated=is_generated,
    )


def size(default: int, low: int = 5, high: int = 32) -> Parameter:
    """Of a square room."""
    return integer("size", default, low, high, "Rows and columns, walls included.", unit="cells")


def count(name: str, default: int, low: int, high: int, help_: str) -> Parameter:
    return integer(name, default, low, high, help_)


def room_size(default: int, low: int = 3, high: int = 12) -> Parameter:
    return integer("room_size", default, low, high, "Of each room, walls included.", unit="cells")


def step_limit(by_default: str, default: int | None = None) -> Parameter:
    """Where the episode is cut off."""
    return integer(
        "max_steps",
        default,
        1,
        1_000_000,
        f"The most steps of an episode; {by_default} by default.",
        unit="steps",
    )


def agent_start(columns: int = _WIDEST, rows: int = _WIDEST) -> tuple[Parameter, ...]:
    """The fields of `AGENT_START`, and the direction; the first cell unless a variant differs."""
    return (
        *cell("agent_start", 1, "Where you start", columns, rows),
        choice(
            "agent_start_dir",
            0,
            (0, 1, 2, 3),
            "Which way you face: 0 right, 1 down, 2 left, 3 up.",
        ),
    )


def cell(
    name: str, default: int | None, what: str, columns: int, rows: int
) -> tuple[Parameter, Parameter]:
    """Column and row of something; both null: at random."""
    help_ = f"{what}: the {{}}, from 1; without both it is random."
    if default is not None:
        help_ = f"{what}: the {{}}, from 1."
    return (
        integer(f"{name}_x", default, 1, columns, help_.format("column")),
        integer(f"{name}_y", default, 1, rows, help_.format("row")),
    )


_SIGHT = (
    choice(
        "agent_view_size",
        7,
        (3, 5, 7, 9, 11, 13, 15),
        "How many cells you see ahead and across.",
        group="Sight",
    ),
    boolean("highlight", True, "Whether the picture marks what you see.", group="Sight"),
)


def _with_default(field: Parameter, defaults: Mapping[str, Any]) -> Parameter:
    if field.name not in defaults:
        return field
    return msgspec.structs.replace(field, default=defaults[field.name])
