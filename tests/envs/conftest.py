"""Fixtures with the packages that the catalog describes."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mosaic.envs.entries import EnvironmentEntry
from mosaic_worker.environments.factory import make_environment


@pytest.fixture(scope="session")
def gymnasium() -> Any:
    """Gymnasium with every family registered."""
    module = importlib.import_module("gymnasium")
    ale_py = importlib.import_module("ale_py")
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    module.register_envs(ale_py)
    module.register_envs(importlib.import_module("minigrid"))
    return module


@pytest.fixture
def make_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Creates the environment of an entry, with keyword arguments as in a run's configuration."""
    # MuJoCo writes its log into the working directory.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

    def make(entry: EnvironmentEntry, **keywords: Any) -> Any:
        return make_environment(entry.env_id, keywords)

    return make
