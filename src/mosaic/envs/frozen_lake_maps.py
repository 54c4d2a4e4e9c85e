"""The maps of FrozenLake: reading one that a person drew, making a random one, finding faults.

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
"""Together they are the keyword `map_name` or the keyword `desc`."""

SHOWN_WHEN = (
    ShownWhen(
        fields=("map_size", "hole_probability", "map_seed"), other="map_name", values=("random",)
    ),
    ShownWhen(fields=("desc",), other="map_name", values=("custom",)),
)

_LETTERS = "SFHG"
_MOST_CELLS = 64 * 64
_LARGEST_RANDOM = 32
_MOST_TRIES = 100
_MAP_GROUP = "Map"


def map_fields(named: str) -> tuple[Parameter, ...]:
    """The fields that choose a map, where `named` is the one that the id stands for."""
    return (
        choice(
            "map_name",
            named,
            ("4x4", "8x8", "random", "custom"),
            "One of the two well-known maps, a random one, or one that you draw.",
            group=_MAP_GROUP,
        ),
        integer(
            "map_size",
            8,
            2,
            _LARGEST_RANDOM,
            "Rows and columns of a random map.",
            unit="cells",
            group=_MAP_GROUP,
        ),
        number(
            "hole_probability",
            0.2,
            0.0,
            0.6,
            "How likely a cell of a random map is a hole. There is always a way to the goal.",
            group=_MAP_GROUP,
        ),
        integer(
            "map_seed",
            0,
            0,
            2**31 - 1,
            "Of a random map: the same number gives the same map.",
            group=_MAP_GROUP,
        ),
        text(
            "desc",
            None,
            "A map of your own: S start, F frozen, H hole, G goal; one row a line, or rows with"
            " a slash between them.",
            group=_MAP_GROUP,
        ),
    )


def map_keywords(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword of `make` that brings the chosen map; empty for the one of the id.

    A random map is made here, so that the same values always mean the same map.
    """
    chosen = {**defaults, **values}
    kind = chosen["map_name"]
    if kind == "custom" or (chosen["desc"] and "map_name" not in values):
        return {"desc": map_rows(chosen["desc"])}
    if kind == "random":
        size, holes = int(chosen["map_size"]), float(chosen["hole_probability"])
        return {"desc": random_map(size, holes, int(chosen["map_seed"]))}
    return {} if kind == defaults["map_name"] else {"map_name": kind}


def map_rows(drawn: str | Sequence[str] | None) -> list[str]:
    """The rows of a map that was typed in, or is a list of rows already."""
    if isinstance(drawn, str):
        drawn = re.split(r"[\n/,;]+", drawn)
    return [row.strip().upper() for row in drawn or () if row.strip()]


def check_map(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the map of one's own, when one is asked for."""
    chosen = {**defaults, **values}
    if chosen["map_name"] != "custom" and not (chosen["desc"] and "map_name" not in values):
        return
    yield from map_problems(map_rows(chosen["desc"]), ("desc",))


def map_problems(rows: Sequence[str], path: Path) -> Iterator[Problem]:
    """Every reason why FrozenLake could not be played on these rows."""
    if not rows:
        yield Problem(path, "missing", "has no map.", 'Draw one, such as "SFF/FHF/FFG".')
        return
    width = len(rows[0])
    uneven = next((at for at, row in enumerate(rows) if len(row) != width), None)
    if uneven is not None:
        yield Problem(
            path,
            "value",
            f"is not rectangular: row {uneven + 1} has {len(rows[uneven])} cells,"
            f" and the first has {width}.",
            "Make all rows as long as the first.",
        )
    strange = sorted({letter for row in rows for letter in row} - set(_LETTERS))
    if strange:
        yield Problem(
            path,
            "value",
            f"has the letter {', '.join(map(repr, strange[:5]))}.",
            "Use S for the start, F for frozen, H for a hole and G for the goal.",
        )
    for letter, meaning in (("S", "start"), ("G", "goal")):
        if not any(letter in row for row in rows):
            yield Problem(path, "value", f"has no {meaning}.", f"Put the letter {letter} into it.")
    if len(rows) * width > _MOST_CELLS:
        yield Problem(path, "value", f"has more than {_MOST_CELLS} cells.", "Draw a smaller map.")
    elif uneven is None and not strange and any("S" in row for row in rows):
        yield from _unreachable(rows, path)


def _unreachable(rows: Sequence[str], path: Path) -> Iterator[Problem]:
    if not any("G" in row for row in rows):
        return
    for row, cells in enumerate(rows):
        for column, letter in enumerate(cells):
            if letter == "S" and not has_way(rows, (row, column)):
                yield Problem(
                    path,
                    "value",
                    f"has no way from the start in row {row + 1}, column {column + 1} to a goal.",
                    "Turn some of the holes in between into F.",
                )
                return


def has_way(rows: Sequence[str], start: tuple[int, int]) -> bool:
    """Whether a goal can be reached from `start` without falling into a hole."""
    seen, waiting = {start}, [start]
    while waiting:
        row, column = waiting.pop()
        if rows[row][column] == "G":
            return True
        for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            inside = 0 <= near[0] < len(rows) and 0 <= near[1] < len(rows[0])
            if inside and near not in seen and rows[near[0]][near[1]] != "H":
                seen.add(near)
                waiting.append(near)
    return False


def random_map(size: int, hole_probability: float, seed: int) -> list[str]:
    """A map with the start top left, the goal bottom right and a way between them.

    Where holes are so likely that hardly any map has one, a way is cut free.
    """
    source = random.Random(seed)  # noqa: S311 - a map is no secret
    for _ in range(_MOST_TRIES):
        rows = _drawn(size, hole_probability, source)
        if has_way(rows, (0, 0)):
            return rows
    return _with_a_way(rows, source)


def _drawn(size: int, hole_probability: float, source: random.Random) -> list[str]:
    cells = [
        ["H" if source.random() < hole_probability else "F" for _ in range(size)]
        for _ in range(size)
    ]
    cells[0][0], cells[-1][-1] = "S", "G"
    return ["".join(row) for row in cells]


def _with_a_way(rows: Sequence[str], source: random.Random) -> list[str]:
    """Steps right and down, in random order, from corner to corner."""
    cells = [list(row) for row in rows]
    steps = [(0, 1), (1, 0)] * (len(rows) - 1)
    source.shuffle(steps)
    row = column = 0
    for down, right in steps[:-1]:
        row, column = row + down, column + right
        cells[row][column] = "F"
    return ["".join(row) for row in cells]
