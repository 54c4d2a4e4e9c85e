"""Packages that are not those of the record, in words: the first thing to look at when a replay
comes out differently."""

from collections.abc import Mapping
from typing import Any

_MOST_NAMED = 10


def package_warnings(
    recorded: Mapping[str, Any], here: Mapping[str, str | None]
) -> tuple[str, ...]:
    """One sentence that names them, or none."""
    changed = [
        f"{name} {version} then, {here[name] or 'none'} now"
        for name, version in recorded.items()
        if name in here and here[name] != version
    ]
    if not changed:
        return ()
    named = "; ".join(changed[:_MOST_NAMED])
    more = len(changed) - _MOST_NAMED
    rest = f"; and {more} more" if more > 0 else ""
    return (f"Packages are not those of the record: {named}{rest}.",)
