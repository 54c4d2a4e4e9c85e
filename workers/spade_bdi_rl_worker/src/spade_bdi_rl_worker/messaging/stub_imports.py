"""Imports SPADE and pyjabber with stubs in place of modules that this worker never uses.

`import spade` loads pyjabber with its database, and aiohttp with templates, which delays a run by
more than a second. SPADE uses them only to run servers, which this worker does not need. The
embedded server imports the real pyjabber later.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class StubWebApp:
    """Replaces the web page of SPADE agents."""

    def __init__(self, agent: Any = None) -> None:
        pass

    def is_started(self) -> bool:
        return False


_SPADE_STUBS: dict[str, dict[str, Any]] = {
    "pyjabber": {},
    "pyjabber.server": {"Server": None},
    "pyjabber.server_parameters": {"Parameters": None},
    "aiohttp": {"ClientSession": None, "ClientError": OSError},
    "spade.web": {"WebApp": StubWebApp},
}


@contextlib.contextmanager
def stub_modules(stubs: Mapping[str, Mapping[str, Any]]) -> Iterator[None]:
    """Make imports of these modules return stubs with the given attributes.

    Modules that are already imported are left as they are.
    """
    names = [name for name in stubs if name not in sys.modules]
    for name in names:
        module = ModuleType(name)
        vars(module).update(stubs[name])
        sys.modules[name] = module
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


def import_spade() -> None:
    """Import SPADE. Call it before any other import of SPADE."""
    if "spade" in sys.modules:
        return
    with stub_modules(_SPADE_STUBS):
        importlib.import_module("spade")
        importlib.import_module("slixmpp.plugins.xep_0363")
