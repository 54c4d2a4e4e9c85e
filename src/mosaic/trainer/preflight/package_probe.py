"""Run by a worker's own Python: checks the versions of its packages, and that they can be imported.

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
    request = json.loads(sys.argv[1])
    print(json.dumps([*package_problems(request["packages"]), *module_problem(request["module"])]))


def package_problems(recorded: Mapping[str, str]) -> Iterator[str]:
    installed: dict[str, Distribution] = {}
    for distribution in distributions():
        installed.setdefault(normalize(distribution.metadata["Name"] or ""), distribution)
    for name, version in recorded.items():
        distribution_found = installed.get(normalize(name))
        if distribution_found is None:
            yield f"{name} is missing"
        elif distribution_found.version != version:
            yield f"{name} is {distribution_found.version} instead of {version}"
        else:
            for module in sorted(
                set(_TOP_LEVEL.findall(distribution_found.read_text("RECORD") or ""))
            ):
                if not can_import(module):
                    yield f"{module} of {name} cannot be imported"


def module_problem(module: str) -> Iterator[str]:
    """Whether `python -m` would find it. Its parent packages are imported, it itself is not."""
    try:
        spec = importlib.util.find_spec(module)
        if spec is None:
            yield f"{module} is missing"
        elif spec.submodule_search_locations is not None and not can_import(f"{module}.__main__"):
            yield f"{module} has no __main__"
    except Exception as error:  # noqa: BLE001 - a process's edge: whatever a package does on import
        yield f"{module} cannot be imported: {type(error).__name__}: {error}"


def can_import(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # already imported, without a spec
        return True


def normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
