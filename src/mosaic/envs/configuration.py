"""From the values of an entry's fields to the keywords that its environment is made with.

Called by the window's forms, `mosaic play` and whoever builds a run configuration.
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
_MISSPELT = 0.85
"""How alike two names are when one was probably meant to be the other."""


class EnvironmentValuesError(DocumentError):
    """Values that an environment cannot be made with."""

    document = "settings of the environment"
    default_code = "C190"


def env_kwargs(entry: EnvironmentEntry, values: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `gymnasium.make` for these values of the entry's fields.

    What has its default is left out, so that older packages, which may not know the keyword, can
    still make the environment. A name that is no field is passed on as it is. Raises
    `EnvironmentValuesError`.
    """
    problems = check_values(entry, values)
    if problems:
        raise EnvironmentValuesError(problems, source=entry.env_id)
    defaults = entry.defaults
    joined = {name for pair in entry.pairs for name in pair.fields}
    special = {*joined, *(MAP_FIELDS if entry.map_field else ())}
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
    """Everything that is wrong with these values, each with its remedy.

    A name that is no field may be a keyword that the catalog does not list, which only making the
    environment can tell; it is a problem when it looks like a misspelt field.
    """
    fields = {field.name: field for field in entry.fields}
    problems = [
        problem
        for name, value in values.items()
        for problem in (
            check_value(_as_text(entry, name, value), fields[name], (name,))
            if name in fields
            else _check_other(entry, name)
        )
    ]
    if not problems:
        chosen = {**entry.defaults, **values}
        problems += _check_ranges(entry, chosen)
        problems += _check_pairs(entry, chosen)
    if entry.map_field and not problems:
        problems += check_map(values, entry.defaults)
    return tuple(problems)


def check_seed(given: Any) -> int:
    """The seed that a person typed, as a number. Raises `UserError`."""
    try:
        seed = int(str(given).strip())
    except ValueError:
        seed = -1
    if not 0 <= seed <= MAX_SEED:
        raise UserError(
            f"The seed {str(given)[:40]!r} is not a whole number from 0 to {MAX_SEED}.",
            remedy="Give such a number, or none for a random start.",
            code="C191",
        )
    return seed


def _as_text(entry: EnvironmentEntry, name: str, value: Any) -> Any:
    """A map may be given as the list of its rows, too."""
    if name == entry.map_field and isinstance(value, (list, tuple)):
        return "/".join(map(str, value))
    return value


def _check_other(entry: EnvironmentEntry, name: str) -> Iterator[Problem]:
    if name in (pair.keyword for pair in entry.pairs):
        return
    meant = difflib.get_close_matches(name, entry.defaults, n=1, cutoff=_MISSPELT)
    if meant:
        remedy = f"Did you mean `{meant[0]}`?"
        yield Problem((name,), "unknown", "is no setting of this environment.", remedy)


def _check_ranges(entry: EnvironmentEntry, chosen: Mapping[str, Any]) -> Iterator[Problem]:
    for low, high in entry.ranges:
        if chosen[low] > chosen[high]:
            yield Problem((low,), "value", f"is above `{high}`.", "Exchange the two.")


def _check_pairs(entry: EnvironmentEntry, chosen: Mapping[str, Any]) -> Iterator[Problem]:
    for pair in entry.pairs:
        missing = [name for name in pair.fields if chosen[name] is None]
        if len(missing) == len(pair.fields):
            continue
        together = " and ".join(f"`{name}`" for name in pair.fields)
        for name in missing:
            yield Problem((name,), "missing", "is missing.", f"Give {together} together.")
        if missing or not pair.within:
            continue
        # The outermost cells are walls.
        last = chosen[pair.within] - 2
        for name in pair.fields:
            if chosen[name] > last:
                remedy = f"Give at most {last}, or a larger `{pair.within}`."
                yield Problem((name,), "value", "lies outside of the room.", remedy)
