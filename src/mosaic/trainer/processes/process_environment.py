"""Environment variables of the processes that the daemon starts."""

import os
import re
from collections.abc import Mapping

from mosaic.contract.layout import RUN_DIR_VARIABLE, RUN_ID_VARIABLE, RunDirectory

_FIXED = {
    "PYTHONUNBUFFERED": "1",  # otherwise lines arrive in blocks of 8 KiB
    "SDL_NO_SIGNAL_HANDLERS": "1",  # otherwise SDL ignores SIGTERM once pygame starts
}
_DEFAULTS = {
    "OMP_NUM_THREADS": "1",  # small networks on several threads are slower, and not reproducible
    "MUJOCO_GL": "egl",  # renders without a display
}
_OFF_SCREEN = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}


def worker_environment(run_dir: RunDirectory, base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a worker: `base`, defaults, and the run's own variables."""
    return {
        **_DEFAULTS,
        **base,
        **_FIXED,
        RUN_ID_VARIABLE: run_dir.run_id,
        RUN_DIR_VARIABLE: str(run_dir.path.absolute()),
    }


def simulation_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a simulation, which renders off screen and belongs to no run."""
    run_variables = (RUN_ID_VARIABLE, RUN_DIR_VARIABLE)
    inherited = {name: value for name, value in base.items() if name not in run_variables}
    return {**_DEFAULTS, **inherited, **_FIXED, **_OFF_SCREEN}


_PATHS_AND_LOCALE = frozenset(
    {"PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "PYENV_ROOT", "HOME"}
)
_CHANGES_PYTHON = re.compile(r"PYTHON|VIRTUAL_ENV$|CONDA_|__PYVENV")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|VPN", re.IGNORECASE)


def bare_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for describing a worker or an interpreter: paths and locale only."""
    base = os.environ if base is None else base
    return {
        name: value
        for name, value in base.items()
        if name in _PATHS_AND_LOCALE or name.startswith("LC_")
    }


def installer_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of pip and its builds.

    It has no secrets; variables for compilers and proxies, and `PIP_*`, are kept.
    """
    base = os.environ if base is None else base
    return {
        name: value
        for name, value in base.items()
        if name.startswith("PIP_") or not (_CHANGES_PYTHON.match(name) or _SECRET.search(name))
    }
