"""Imports SPADE without what its agents never use here: a server, and a page on the web.

`import spade` brings pyjabber with its database, and aiohttp with templates: more than a second
that a run would wait for. SPADE names them when it is imported and uses them only to serve, which
this worker never lets it do. The embedded server imports the real ones, later and by itself.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class NoPage:
    """Stands for the page that every SPADE agent could show."""

    def __init__(self, agent: Any = None) -> None:
        pass

    def is_started(self) -> bool:
        return False


_STAND_INS: dict[str, dict[str, Any]] = {
    "pyjabber": {},
    "pyjabber.server": {"Server": None},
    "pyjabber.server_parameters": {"Parameters": None},
    "aiohttp": {"ClientSession": None, "ClientError": OSError},
    "spade.web": {"WebApp": NoPage},
}


def import_spade() -> None:
    """Before anything else imports SPADE."""
    if "spade" in sys.modules:
        return
    absent = [name for name in _STAND_INS if name not in sys.modules]
    for name in absent:
        module = ModuleType(name)
        vars(module).update(_STAND_INS[name])
        sys.modules[name] = module
    try:
        importlib.import_module("spade")
        importlib.import_module("slixmpp.plugins.xep_0363")
    finally:
        for name in absent:
            sys.modules.pop(name, None)
