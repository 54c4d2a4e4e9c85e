"""What every test of this checkout runs under, whichever package it is in."""

import pytest

pytest_plugins = [
    "tests.support.collecting",
    "tests.support.leftovers",
    "tests.support.long_tests",
    "tests.support.stuck_tests",
]


_START_PROCESSES = ("test_run_lifecycle.py", "test_standard_streams.py", "test_tracked_run.py")
"""Files of the SDK, whose tests run without pytest too and so cannot mark themselves."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="also run tests that repeat others, with more examples"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what cannot mark itself, and leave out repetitions."""
    for item in items:
        if item.path.name in _START_PROCESSES:
            item.add_marker(pytest.mark.process)
    if config.getoption("--all"):
        return
    left_out = [item for item in items if item.get_closest_marker("repetition")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
