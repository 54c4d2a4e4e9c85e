"""A failed pause leaves the run running."""

import asyncio
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.trainer.registry.errors import RegistryUnavailableError
from mosaic.trainer.runs.run_pausing import RunPausing


class _FullRegistry:
    """A registry that can be read but not written."""

    def get(self, run_id: str) -> SimpleNamespace:
        return SimpleNamespace(run_id=run_id, state=RunState.RUNNING)

    def transition(self, *_: object) -> None:
        raise RegistryUnavailableError(Path("registry"), OSError("full"), "Free some space.")


class _CatalogWithoutPause:
    """A catalog of a worker that does not support pausing."""

    def describe(self, _: str) -> SimpleNamespace:
        return SimpleNamespace(supports=SimpleNamespace(pause=False))


class _Launcher:
    def __init__(self) -> None:
        self.sent: list[signal.Signals] = []

    def signal(self, _: object, number: signal.Signals) -> None:
        self.sent.append(number)


def test_a_pause_that_cannot_be_recorded(tmp_path: Path) -> None:
    """The processes are resumed, because a run recorded as running cannot be resumed."""
    launcher = _Launcher()
    services = SimpleNamespace(
        registry=_FullRegistry(), launcher=launcher, catalog=_CatalogWithoutPause()
    )
    unused: Any = None
    run = Home(tmp_path).run("01M7HBH411PXKTGPG4MB6EJWMT")
    pausing = RunPausing(cast("Any", services), "any_worker", run, unused, unused)
    with pytest.raises(UserError, match="full"):
        asyncio.run(pausing.pause())
    assert launcher.sent == [signal.SIGSTOP, signal.SIGCONT]
