"""Maps of FrozenLake: generates random maps and validates custom ones.

A random map is generated before the environment is created, so that a replay can create the same
one. `factory` calls this for every environment whose id contains FrozenLake.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CELL_LETTERS = frozenset("SFHG")
_MAP_NAMES = ("4x4", "8x8")
_RANDOM = "random"
_MAP_ARGUMENTS = ("map_size", "hole_probability", "map_seed")
_DEFAULT_SIZE = 8
_DEFAULT_HOLE_PROBABILITY = 0.2
_SIZES = range(2, 65)
_MAX_ATTEMPTS = 100


def is_frozen_lake(env_id: str) -> bool:
    name = env_id.rpartition("/")[2]
    return name.startswith("FrozenLake")


def resolve_map(env_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`env_kwargs` with a random or custom map as `desc`. Raises WorkerError for an invalid map.

    A random map is requested by the `map_name` "random" (with the optional `map_size`,
    `hole_probability` and `map_seed`) or, as in gymnasium, by a `map_name` of None.
    """
    resolved = {name: v for name, v in env_kwargs.items() if name not in _MAP_ARGUMENTS}
    desc = resolved.get("desc")
    if desc is not None:
        resolved["desc"] = validate_map(desc)
        return resolved
    name = resolved.get("map_name", _MAP_NAMES[0])
    if name in _MAP_NAMES:
        return resolved
    if name is not None and name != _RANDOM:
        raise WorkerError(
            f"Unknown FrozenLake map {name!r}.",
            remedy=f"Use {', '.join(_MAP_NAMES)} or {_RANDOM}, or pass a custom map as 'desc'.",
        )
    resolved.pop("map_name", None)
    resolved["desc"] = generate_random_map(
        env_kwargs.get("map_size", _DEFAULT_SIZE),
        env_kwargs.get("hole_probability", _DEFAULT_HOLE_PROBABILITY),
        env_kwargs.get("map_seed"),
    )
    return resolved


def validate_map(desc: Any) -> list[str]:
    """The rows of a custom map. Raises WorkerError if a start has no path to a goal."""
    rows = map_rows(desc)
    remedy = "Use rows of equal length with S (start), F (frozen), H (hole) and G (goal)."
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not rows[0]:
        raise WorkerError("The FrozenLake map is not rectangular.", remedy=remedy)
    unknown = sorted(set("".join(rows)) - _CELL_LETTERS)
    if unknown:
        raise WorkerError(f"The FrozenLake map contains the letter {unknown[0]!r}.", remedy=remedy)
    starts = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell == "S"]
    if not starts:
        raise WorkerError("The FrozenLake map has no start.", remedy="Add an S.")
    if not any("G" in row for row in rows):
        raise WorkerError("The FrozenLake map has no goal.", remedy="Add a G.")
    for start in starts:
        if not _reaches_goal(rows, start):
            raise WorkerError(
                "The FrozenLake map has no path from a start to a goal.",
                remedy="Replace some of the holes by F.",
            )
    return rows


def generate_random_map(size: Any, hole_probability: Any, seed: Any = None) -> list[str]:
    """A square map with a path from the start, top left, to the goal, bottom right."""
    if size not in _SIZES:
        raise WorkerError(
            f"map_size must be from {_SIZES[0]} to {_SIZES[-1]}, got {size!r}.",
            remedy=f"Use a map_size from {_SIZES[0]} to {_SIZES[-1]}.",
        )
    if not isinstance(hole_probability, (int, float)) or not 0 <= hole_probability <= 1:
        raise WorkerError(
            f"hole_probability must be from 0 to 1, got {hole_probability!r}.",
            remedy="Change the value.",
        )
    rng = random.Random(seed)  # noqa: S311 - not used for security
    for _ in range(_MAX_ATTEMPTS):
        rows = _generate_map(int(size), hole_probability, rng)
        if _reaches_goal(rows, (0, 0)):
            return rows
    raise WorkerError(
        f"No random FrozenLake map with hole_probability {hole_probability} had a path.",
        remedy="Lower hole_probability.",
    )


def _generate_map(size: int, hole_probability: float, rng: random.Random) -> list[str]:
    cells = ["H" if rng.random() < hole_probability else "F" for _ in range(size * size)]
    cells[0], cells[-1] = "S", "G"
    return ["".join(cells[row * size : (row + 1) * size]) for row in range(size)]


def _reaches_goal(rows: Sequence[str], start: tuple[int, int]) -> bool:
    seen, pending = {start}, [start]
    while pending:
        y, x = pending.pop()
        if rows[y][x] == "G":
            return True
        for cell in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            is_inside = 0 <= cell[0] < len(rows) and 0 <= cell[1] < len(rows[0])
            if is_inside and cell not in seen and rows[cell[0]][cell[1]] != "H":
                seen.add(cell)
                pending.append(cell)
    return False


def map_rows(desc: Any) -> list[str]:
    """Rows as strings, from strings, sequences of letters, or the byte arrays of gymnasium."""
    return [row if isinstance(row, str) else "".join(map(_letter, row)) for row in desc]


def _letter(cell: Any) -> str:
    return cell.decode("ascii") if isinstance(cell, bytes) else str(cell)
