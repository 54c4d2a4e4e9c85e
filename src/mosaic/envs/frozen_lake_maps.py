"""Maps of FrozenLake: fields, validation and random generation.

A map is rows of the letters S (start), F (frozen), H (hole) and G (goal).
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Path, Problem
from mosaic.envs.entries import ShownWhen
from mosaic.envs.fields import choice, integer, number, text

MAP_FIELDS = ("map_name", "map_size", "hole_probability", "map_seed", "desc")
"""Fields that determine the keyword argument `map_name` or `desc`."""

SHOWN_WHEN = (
    ShownWhen(
        fields=("map_size", "hole_probability", "map_seed"), other="map_name", values=("random",)
    ),
    ShownWhen(fields=("desc",), other="map_name", values=("custom",)),
)

_LETTERS = "SFHG"
_MAX_CELLS = 64 * 64
_MAX_RANDOM_SIZE = 32
_MAX_ATTEMPTS = 100
_MAP_GROUP = "Map"


def map_fields(default_map: str) -> tuple[Parameter, ...]:
    """Return the fields that select a map; `default_map` is the default of the id."""
    return (
        choice(
            "map_name",
            default_map,
            ("4x4", "8x8", "random", "custom"),
            "A predefined map, a random one, or a custom one.",
            group=_MAP_GROUP,
        ),
        integer(
            "map_size",
            8,
            2,
            _MAX_RANDOM_SIZE,
            "Rows and columns of a random map.",
            unit="cells",
            group=_MAP_GROUP,
        ),
        number(
            "hole_probability",
            0.2,
            0.0,
            0.6,
            "Probability of a hole in a random map. The goal is always reachable.",
            group=_MAP_GROUP,
        ),
        integer(
            "map_seed",
            0,
            0,
            2**31 - 1,
            "Seed of the random map.",
            group=_MAP_GROUP,
        ),
        text(
            "desc",
            None,
            "Custom map: S start, F frozen, H hole, G goal; one row per line, or rows separated"
            " by slashes.",
            group=_MAP_GROUP,
        ),
    )


def map_keywords(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword argument of `make` for the selected map; empty for the default.

    A random map is generated here, so that equal values always give the same map.
    """
    chosen = {**defaults, **values}
    kind = chosen["map_name"]
    if kind == "custom" or (chosen["desc"] and "map_name" not in values):
        return {"desc": map_rows(chosen["desc"])}
    if kind == "random":
        size, holes = int(chosen["map_size"]), float(chosen["hole_probability"])
        return {"desc": random_map(size, holes, int(chosen["map_seed"]))}
    return {} if kind == defaults["map_name"] else {"map_name": kind}


def map_rows(value: str | Sequence[str] | None) -> list[str]:
    """Return the rows of a map, given as text or as a list of rows."""
    if isinstance(value, str):
        value = re.split(r"[\n/,;]+", value)
    return [row.strip().upper() for row in value or () if row.strip()]


def check_map(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of the custom map, if one is selected."""
    chosen = {**defaults, **values}
    if chosen["map_name"] != "custom" and not (chosen["desc"] and "map_name" not in values):
        return
    yield from map_problems(map_rows(chosen["desc"]), ("desc",))


def map_problems(rows: Sequence[str], path: Path) -> Iterator[Problem]:
    """Yield every reason why these rows are not a valid map."""
    if not rows:
        yield Problem(path, "missing", "is empty.", 'Enter a map, such as "SFF/FHF/FFG".')
        return
    width = len(rows[0])
    uneven = next((index for index, row in enumerate(rows) if len(row) != width), None)
    if uneven is not None:
        yield Problem(
            path,
            "value",
            f"is not rectangular: row {uneven + 1} has {len(rows[uneven])} cells,"
            f" the first has {width}.",
            "Make all rows equally long.",
        )
    invalid = sorted({letter for row in rows for letter in row} - set(_LETTERS))
    if invalid:
        yield Problem(
            path,
            "value",
            f"contains {', '.join(map(repr, invalid[:5]))}.",
            "Use S for start, F for frozen, H for hole and G for goal.",
        )
    for letter, meaning in (("S", "start"), ("G", "goal")):
        if not any(letter in row for row in rows):
            yield Problem(path, "value", f"has no {meaning}.", f"Add a cell {letter}.")
    if len(rows) * width > _MAX_CELLS:
        yield Problem(path, "value", f"has more than {_MAX_CELLS} cells.", "Use a smaller map.")
    elif uneven is None and not invalid and any("S" in row for row in rows):
        yield from _check_reachable(rows, path)


def _check_reachable(rows: Sequence[str], path: Path) -> Iterator[Problem]:
    if not any("G" in row for row in rows):
        return
    for row, cells in enumerate(rows):
        for column, letter in enumerate(cells):
            if letter == "S" and not has_path(rows, (row, column)):
                yield Problem(
                    path,
                    "value",
                    f"has no path from the start in row {row + 1}, column {column + 1} to a goal.",
                    "Replace some of the holes between them by F.",
                )
                return


def has_path(rows: Sequence[str], start: tuple[int, int]) -> bool:
    """Return whether a goal is reachable from `start`."""
    seen, pending = {start}, [start]
    while pending:
        row, column = pending.pop()
        if rows[row][column] == "G":
            return True
        for neighbour in (
            (row - 1, column),
            (row + 1, column),
            (row, column - 1),
            (row, column + 1),
        ):
            inside = 0 <= neighbour[0] < len(rows) and 0 <= neighbour[1] < len(rows[0])
            if inside and neighbour not in seen and rows[neighbour[0]][neighbour[1]] != "H":
                seen.add(neighbour)
                pending.append(neighbour)
    return False


def random_map(size: int, hole_probability: float, seed: int) -> list[str]:
    """Generate a map with the start top left, the goal bottom right and a path between them.

    If no random map has a path because holes are too likely, a path is carved into the last one.
    """
    source = random.Random(seed)  # noqa: S311 - not used for security
    for _ in range(_MAX_ATTEMPTS):
        rows = _sample_map(size, hole_probability, source)
        if has_path(rows, (0, 0)):
            return rows
    return _carve_path(rows, source)


def _sample_map(size: int, hole_probability: float, source: random.Random) -> list[str]:
    cells = [
        ["H" if source.random() < hole_probability else "F" for _ in range(size)]
        for _ in range(size)
    ]
    cells[0][0], cells[-1][-1] = "S", "G"
    return ["".join(row) for row in cells]


def _carve_path(rows: Sequence[str], source: random.Random) -> list[str]:
    """Carve a random path of steps right and down, from corner to corner."""
    cells = [list(row) for row in rows]
    steps = [(0, 1), (1, 0)] * (len(rows) - 1)
    source.shuffle(steps)
    row = column = 0
    for down, right in steps[:-1]:
        row, column = row + down, column + right
        cells[row][column] = "F"
    return ["".join(row) for row in cells]
