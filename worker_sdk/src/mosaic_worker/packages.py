"""Which packages a run used, so that it can be repeated."""

from __future__ import annotations

import platform


def installed_packages() -> dict[str, str]:
    """Name and version of every distribution in this environment, and of Python itself."""
    from importlib import metadata  # noqa: PLC0415 - slow to import

    found = {"python": platform.python_version()}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found[name.lower()] = distribution.version
    return dict(sorted(found.items()))
