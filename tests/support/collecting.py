"""pytest plugin: garbage is collected between tests, on the main thread, and at no other time.

`gym_gui.services.ui_collection` explains why the automatic collector must not run in a process that
has Qt objects. Every test process may have some, because tests of all packages share it.
"""

import gc
from collections.abc import Generator

import pytest


def pytest_configure() -> None:
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Modules and test items stay: they are not searched for garbage again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:  # noqa: ARG001 - hook
    result = yield
    counts = enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
    due = [generation for generation, (count, threshold) in counts if count > threshold]
    if due:
        gc.collect(max(due))
    return result
