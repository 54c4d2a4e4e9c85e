"""The environment of programs that are no runs: nothing secret, nothing that bends Python."""

import os
import re
from collections.abc import Mapping

_PLAIN = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "PYENV_ROOT", "HOME"})
_BENDS_PYTHON = re.compile(r"PYTHON|VIRTUAL_ENV$|CONDA_|__PYVENV")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|VPN", re.IGNORECASE)


def bare_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """For asking a worker or an interpreter what it is: where programs and letters are."""
    base = os.environ if base is None else base
    return {name: value for name, value in base.items() if name in _PLAIN or name.startswith("LC_")}


def installer_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """For pip and what it builds: compilers, proxies and `PIP_*` pass through."""
    base = os.environ if base is None else base
    return {
        name: value
        for name, value in base.items()
        if name.startswith("PIP_") or not (_BENDS_PYTHON.match(name) or _SECRET.search(name))
    }
