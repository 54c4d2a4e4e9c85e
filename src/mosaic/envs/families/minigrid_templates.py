"""Templates of MiniGrid environments that differ only in a few settings."""

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
        "space": (5, "toggle"),
        "enter": (6, "done"),
    }
)
_WALKING_KEYS = discrete_keys(
    {"left": (0, "turn left"), "right": (1, "turn right"), "up": (2, "forward")}
)
_OBSERVATION = (
    "A dictionary: the 7x7 view ahead (object, colour and state per cell),"
    " the direction (0 is right, then clockwise) and the mission as text."
)
_MAX_POSITION = 30
_SUCCESS_REWARD = "1 - 0.9 * steps / max_steps for success, otherwise 0."

AGENT_START = KeywordPair(keyword="agent_start_pos", fields=("agent_start_x", "agent_start_y"))
AGENT_START_IN_SIZE = msgspec.structs.replace(AGENT_START, within="size")
AGENT_POSITION = KeywordPair(keyword="agent_pos", fields=("agent_x", "agent_y"))
GOAL_POSITION = KeywordPair(keyword="goal_pos", fields=("goal_x", "goal_y"))


class EnvTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A MiniGrid environment and its registered variants."""

    title: str
    summary: str
    goal: str
    ends: str
    variants: dict[str, tuple[str, dict[str, Any]]]
    """By id: the suffix of the title, and the defaults that differ from those of `fields`."""
    fields: tuple[Parameter, ...] = ()
    pairs: tuple[KeywordPair, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()
    rewards: str = _SUCCESS_REWARD
    steps: str = ""
    """Default step limit as text; empty: `fields` has it, or there is no such field."""
    movement_only: bool = False
    """Whether there are only the three actions that move the agent."""

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
            movement_only=self.movement_only,
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
    rewards: str = _SUCCESS_REWARD,
    movement_only: bool = False,
    is_generated: bool = False,
) -> EnvironmentEntry:
    """Create the entry of a MiniGrid or BabyAI environment with the shared fields."""
    return EnvironmentEntry(
        env_id=env_id,
        family="minigrid",
        title=title,
        summary=summary,
        goal=goal,
        observation=_OBSERVATION,
        actions=(
            "Turn left, turn right or move forward."
            if movement_only
            else "Turn left, turn right, move forward, pick up, drop, toggle (doors, boxes), done."
        ),
        action_meanings=_MEANINGS[:3] if movement_only else _MEANINGS,
        rewards=rewards,
        ends=ends,
        action_kind="discrete",
        fields=(*fields, *_VIEW_FIELDS),
        pairs=pairs,
        ranges=ranges,
        keys=_WALKING_KEYS if movement_only else _KEYS,
        views=("grid", "frame"),
        render_fps=10,
        turn_based=True,
        is_generated=is_generated,
    )


def size(default: int, low: int = 5, high: int = 32) -> Parameter:
    """Create the size field of a square room."""
    return integer("size", default, low, high, "Rows and columns, including walls.", unit="cells")


def count(name: str, default: int, low: int, high: int, help_: str) -> Parameter:
    return integer(name, default, low, high, help_)


def room_size(default: int, low: int = 3, high: int = 12) -> Parameter:
    return integer(
        "room_size", default, low, high, "Size of each room, including walls.", unit="cells"
    )


def step_limit(default_text: str, default: int | None = None) -> Parameter:
    """Create the field of the step limit."""
    return integer(
        "max_steps",
        default,
        1,
        1_000_000,
        f"Maximum number of steps per episode. Default: {default_text}.",
        unit="steps",
    )


def agent_start(columns: int = _MAX_POSITION, rows: int = _MAX_POSITION) -> tuple[Parameter, ...]:
    """Create the fields of `AGENT_START` and the direction. Default: the first cell."""
    return (
        *cell("agent_start", 1, "Start", columns, rows),
        choice(
            "agent_start_dir",
            0,
            (0, 1, 2, 3),
            "Initial direction: 0 right, 1 down, 2 left, 3 up.",
        ),
    )


def cell(
    name: str, default: int | None, what: str, columns: int, rows: int
) -> tuple[Parameter, Parameter]:
    """Create the fields of a column and a row; both null: random."""
    help_ = f"{what} {{}}, from 1. Default: random."
    if default is not None:
        help_ = f"{what} {{}}, from 1."
    return (
        integer(f"{name}_x", default, 1, columns, help_.format("column")),
        integer(f"{name}_y", default, 1, rows, help_.format("row")),
    )


_VIEW_FIELDS = (
    choice(
        "agent_view_size",
        7,
        (3, 5, 7, 9, 11, 13, 15),
        "Size of the agent's view in cells.",
        group="View",
    ),
    boolean("highlight", True, "Highlight the agent's view in rendered frames.", group="View"),
)


def _with_default(field: Parameter, defaults: Mapping[str, Any]) -> Parameter:
    if field.name not in defaults:
        return field
    return msgspec.structs.replace(field, default=defaults[field.name])
