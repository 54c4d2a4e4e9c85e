"""Converts the values of an entry's fields to keyword arguments of `gymnasium.make`.

Used by the window's forms, `mosaic play` and other code that builds run configurations.
"""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from mosaic.contract.errors import UserError
from mosaic.contract.json_value import INT64_MAX
from mosaic.contract.parameters import check_value
from mosaic.contract.problems import DocumentError, Problem
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.frozen_lake_maps import MAP_FIELDS, check_map, map_keywords

MAX_SEED = INT64_MAX
INVALID_VALUES = "C190"
"""Invalid settings of an environment."""
_MISSPELLING_CUTOFF = 0.85
"""Similarity above which an unknown name counts as a misspelt field."""


def env_kwargs(entry: EnvironmentEntry, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of `gymnasium.make` for these values.

    Defaults are omitted, so that older packages without the keyword can still create the
    environment. Unknown names are passed through. Raises `DocumentError`.
    """
    problems = check_values(entry, values)
    if problems:
        raise DocumentError(
            problems,
            source=entry.env_id,
            document="settings of the environment",
            code=INVALID_VALUES,
        )
    defaults = entry.defaults
    paired = {name for pair in entry.pairs for name in pair.fields}
    special = {*paired, *(MAP_FIELDS if entry.map_field else ())}
    keywords = {
        name: value
        for name, value in values.items()
        if name not in special and not (name in defaults and value == defaults[name])
    }
    for pair in entry.pairs:
        chosen = [values.get(name, defaults[name]) for name in pair.fields]
        if chosen != [defaults[name] for name in pair.fields]:
            keywords[pair.keyword] = chosen
    if entry.map_field:
        keywords |= map_keywords(values, defaults)
    return keywords


def check_values(entry: EnvironmentEntry, values: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return all problems of these values.

    An unknown name may be a keyword that the catalog does not list; it is a problem only if it
    looks like a misspelt field.
    """
    fields = {field.name: field for field in entry.fields}
    problems = [
        problem
        for name, value in values.items()
        for problem in (
            check_value(_as_text(entry, name, value), fields[name], (name,))
            if name in fields
            else _check_unknown(entry, name)
        )
    ]
    if not problems:
        chosen = {**entry.defaults, **values}
        problems += _check_ranges(entry, chosen)
        problems += _check_pairs(entry, chosen)
    if entry.map_field and not problems:
        problems += check_map(values, entry.defaults)
    return tuple(problems)


def parse_seed(given: Any) -> int:
    """Parse a seed. Raises `UserError`."""
    try:
        seed = int(str(given).strip())
    except ValueError:
        seed = -1
    if not 0 <= seed <= MAX_SEED:
        raise UserError(
            f"The seed must be an integer from 0 to {MAX_SEED}, got {str(given)[:40]!r}.",
            remedy="Enter an integer in this range, or leave it empty for a random seed.",
            code="C191",
        )
    return seed


def _as_text(entry: EnvironmentEntry, name: str, value: Any) -> Any:
    """Join the rows of a map that is given as a list."""
    if name == entry.map_field and isinstance(value, (list, tuple)):
        return "/".join(map(str, value))
    return value


def _check_unknown(entry: EnvironmentEntry, name: str) -> Iterator[Problem]:
    if name in (pair.keyword for pair in entry.pairs):
        return
    suggestions = difflib.get_close_matches(name, entry.defaults, n=1, cutoff=_MISSPELLING_CUTOFF)
    if suggestions:
        remedy = f"Did you mean `{suggestions[0]}`?"
        yield Problem((name,), "unknown", "is not a setting of this environment.", remedy)


def _check_ranges(entry: EnvironmentEntry, chosen: Mapping[str, Any]) -> Iterator[Problem]:
    for low, high in entry.ranges:
        if chosen[low] > chosen[high]:
            yield Problem((low,), "value", f"is greater than `{high}`.", "Swap the two.")


def _check_pairs(entry: EnvironmentEntry, chosen: Mapping[str, Any]) -> Iterator[Problem]:
    for pair in entry.pairs:
        missing = [name for name in pair.fields if chosen[name] is None]
        if len(missing) == len(pair.fields):
            continue
        names = " and ".join(f"`{name}`" for name in pair.fields)
        for name in missing:
            yield Problem((name,), "missing", "is missing.", f"Set {names} together.")
        if missing or not pair.within:
            continue
        # The outermost cells are walls.
        last = chosen[pair.within] - 2
        for name in pair.fields:
            if chosen[name] > last:
                remedy = f"Use at most {last}, or a larger `{pair.within}`."
                yield Problem((name,), "value", "is outside the room.", remedy)
