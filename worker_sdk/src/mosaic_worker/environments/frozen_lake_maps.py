"""The map of a FrozenLake: a random one is drawn before the environment is made, so that it can be
made again; one that a person drew is checked first.

`making` calls this for every environment whose id says FrozenLake.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LETTERS = frozenset("SFHG")
_NAMED = ("4x4", "8x8")
_RANDOM = "random"
_OWN_SETTINGS = ("map_size", "hole_probability", "map_seed")
_DEFAULT_SIZE = 8
_DEFAULT_HOLE_PROBABILITY = 0.2
_SIZES = range(2, 65)
_TRIES = 100


def is_frozen_lake(env_id: str) -> bool:
    name = env_id.rpartition("/")[2]
    return name.startswith("FrozenLake")


def resolve_map(env_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`env_kwargs` with the map as `desc` where it is random or drawn; WorkerError when it is bad.

    A random map is asked for by `map_name` "random" (then `map_size`, `hole_probability` and
    `map_seed` count too) or, as gymnasium has it, by a `map_name` of None.
    """
    resolved = {name: v for name, v in env_kwargs.items() if name not in _OWN_SETTINGS}
    drawn = resolved.get("desc")
    if drawn is not None:
        resolved["desc"] = checked_map(drawn)
        return resolved
    name = resolved.get("map_name", _NAMED[0])
    if name in _NAMED:
        return resolved
    if name is not None and name != _RANDOM:
        raise WorkerError(
            f"FrozenLake has no map called {name!r}.",
            remedy=f"Use {', '.join(_NAMED)} or {_RANDOM}, or draw one as 'desc'.",
        )
    resolved.pop("map_name", None)
    resolved["desc"] = random_map(
        env_kwargs.get("map_size", _DEFAULT_SIZE),
        env_kwargs.get("hole_probability", _DEFAULT_HOLE_PROBABILITY),
        env_kwargs.get("map_seed"),
    )
    return resolved


def checked_map(drawn: Any) -> list[str]:
    """The rows of a map on which the goal can be reached from every start."""
    rows = map_rows(drawn)
    remedy = "Draw rows of equal length with S (start), F (frozen), H (hole) and G (goal)."
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not rows[0]:
        raise WorkerError("The map of FrozenLake is not rectangular.", remedy=remedy)
    strange = sorted(set("".join(rows)) - _LETTERS)
    if strange:
        raise WorkerError(f"The map of FrozenLake has the letter {strange[0]!r}.", remedy=remedy)
    starts = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell == "S"]
    if not starts:
        raise WorkerError("The map of FrozenLake has no start.", remedy="Put an S into it.")
    if not any("G" in row for row in rows):
        raise WorkerError("The map of FrozenLake has no goal.", remedy="Put a G into it.")
    for start in starts:
        if not _reaches_goal(rows, start):
            raise WorkerError(
                "The map of FrozenLake has no path from its start to a goal.",
                remedy="Turn some of the holes in between into F.",
            )
    return rows


def random_map(size: Any, hole_probability: Any, seed: Any = None) -> list[str]:
    """A square map with a path from the start, top left, to the goal, bottom right."""
    if size not in _SIZES:
        raise WorkerError(
            f"A map of FrozenLake cannot have {size!r} rows.",
            remedy=f"Give map_size from {_SIZES[0]} to {_SIZES[-1]}.",
        )
    if not isinstance(hole_probability, (int, float)) or not 0 <= hole_probability <= 1:
        raise WorkerError(
            f"{hole_probability!r} is no probability of holes.",
            remedy="Give hole_probability from 0 to 1.",
        )
    source = random.Random(seed)  # noqa: S311 - a map is no secret
    for _ in range(_TRIES):
        rows = _draw(int(size), hole_probability, source)
        if _reaches_goal(rows, (0, 0)):
            return rows
    raise WorkerError(
        f"No map of FrozenLake with so many holes ({hole_probability}) had a path.",
        remedy="Lower hole_probability.",
    )


def _draw(size: int, hole_probability: float, source: random.Random) -> list[str]:
    cells = ["H" if source.random() < hole_probability else "F" for _ in range(size * size)]
    cells[0], cells[-1] = "S", "G"
    return ["".join(cells[row * size : (row + 1) * size]) for row in range(size)]


def _reaches_goal(rows: Sequence[str], start: tuple[int, int]) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        y, x = waiting.pop()
        if rows[y][x] == "G":
            return True
        for near in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            inside = 0 <= near[0] < len(rows) and 0 <= near[1] < len(rows[0])
            if inside and near not in seen and rows[near[0]][near[1]] != "H":
                seen.add(near)
                waiting.append(near)
    return False


def map_rows(drawn: Any) -> list[str]:
    """Rows of text; each may also be given as letters, or as the bytes that gymnasium keeps."""
    return [row if isinstance(row, str) else "".join(map(_letter, row)) for row in drawn]


def _letter(cell: Any) -> str:
    return cell.decode("ascii") if isinstance(cell, bytes) else str(cell)
