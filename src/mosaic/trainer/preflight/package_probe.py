"""Run by a worker's own Python: are its packages there, in the recorded versions, and importable?

`bundle_checks.py` gives this text to `-c`, with {"module": …, "packages": {name: version}} as the
argument; it prints the problems as a JSON list. It needs nothing but a Python from 3.8 on.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from importlib.metadata import Distribution, distributions
from typing import Iterator, Mapping  # noqa: UP035 - of 3.8

_TOP_LEVEL = re.compile(r"^([A-Za-z_]\w*)(?:/__init__)?(?:\.py|\.[\w.-]*so),", re.MULTILINE)


def main() -> None:
    asked = json.loads(sys.argv[1])
    print(json.dumps([*package_problems(asked["packages"]), *module_problem(asked["module"])]))


def package_problems(recorded: Mapping[str, str]) -> Iterator[str]:
    installed: dict[str, Distribution] = {}
    for distribution in distributions():
        installed.setdefault(folded(distribution.metadata["Name"] or ""), distribution)
    for name, version in recorded.items():
        found = installed.get(folded(name))
        if found is None:
            yield f"{name} is missing"
        elif found.version != version:
            yield f"{name} is {found.version} instead of {version}"
        else:
            for module in sorted(set(_TOP_LEVEL.findall(found.read_text("RECORD") or ""))):
                if not is_there(module):
                    yield f"{module} of {name} cannot be imported"


def module_problem(module: str) -> Iterator[str]:
    """Whether `python -m` would find it. Packages on the way are imported, it itself is not."""
    try:
        spec = importlib.util.find_spec(module)
        if spec is None:
            yield f"{module} is missing"
        elif spec.submodule_search_locations is not None and not is_there(f"{module}.__main__"):
            yield f"{module} has no __main__"
    except Exception as error:  # noqa: BLE001 - a process's edge: whatever a package does on import
        yield f"{module} cannot be imported: {type(error).__name__}: {error}"


def is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # already imported, by something that left no trace of where from
        return True


def folded(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
