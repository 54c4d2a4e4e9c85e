"""pytest plugin: garbage is collected between tests, on the main thread, and at no other time.

`gym_gui.runtime.ui_collection` explains why the automatic collector must not run in a process that
has Qt objects. Every test process may have some, because tests of all packages share it.
"""

import gc
import itertools
from collections.abc import Generator

import pytest


def pytest_configure() -> None:
    gc.disable()


_TESTS_BETWEEN_FREEZES = 20
_tests = itertools.count(1)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    _freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    result = yield
    if next(_tests) % _TESTS_BETWEEN_FREEZES == 0:
        _freeze()
    else:
        gc.collect(1)
    return result


def _freeze() -> None:
    """What is alive now is not searched again: modules, test items and reports only get more."""
    gc.collect()
    gc.freeze()
