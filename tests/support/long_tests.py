"""pytest plugin: tests marked `long` start first, so that no process runs one alone at the end.

pytest-xdist gives each process a contiguous part of the collection, in order. So the long tests are
put at the beginning of each part.
"""

import os
from collections.abc import Iterator

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    items[:] = _in_parts(long, others, processes)


def _in_parts(
    long: list[pytest.Item], others: list[pytest.Item], processes: int
) -> Iterator[pytest.Item]:
    """The parts are as large as pytest-xdist makes them."""
    remaining = len(long) + len(others)
    for process in range(processes):
        first = long[process::processes]
        size = remaining // (processes - process)
        remaining -= size
        yield from first
        yield from others[: size - len(first)]
        del others[: size - len(first)]
