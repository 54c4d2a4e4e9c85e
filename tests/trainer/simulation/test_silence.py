"""A helper process that says nothing: when that is a hang, and when it is rest."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mosaic_worker
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.replays import EpisodeRecording
from mosaic.trainer.simulation.helper_messages import Done, Frame
from mosaic.trainer.simulation.runtime import SimulationRuntime
from mosaic.trainer.simulation.scratch_folders import ScratchFolders
from mosaic.trainer.simulation.simulation import Simulation, SimulationPart
from tests.trainer.conftest import eventually
from tests.worker_sdk import helper_under_test

pytestmark = pytest.mark.process

PATIENCE_S = 60.0


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


Start = Callable[..., Simulation]


@pytest.fixture
def start(tmp_path: Path, clock: Clock) -> Iterator[Start]:
    """Starts simulations by that clock, which are ended after the test."""
    started: list[Simulation] = []

    def start_one(**behaviour: Any) -> Simulation:
        started.append(simulation_of(behaviour, tmp_path, clock))
        return started[-1]

    yield start_one
    for simulation in started:
        simulation.close()


def simulation_of(behaviour: dict[str, Any], tmp_path: Path, clock: Clock) -> Simulation:
    assert mosaic_worker.__file__ is not None
    sdk = Path(mosaic_worker.__file__).parents[1]
    return Simulation(
        EpisodeRecording(
            env_id="odd_environments:Odd-v0",
            env_kwargs=behaviour,
            seed=3,
            actions=[1] * 20,
            rewards=[0.0] * 20,
            terminated=True,
            truncated=False,
            is_over=True,
        ),
        SimulationRuntime(Path(sys.executable), (sdk, helper_under_test.FOLDER)),
        ScratchFolders(Home(tmp_path)),
        {},
        verify_only=False,
        patience_s=PATIENCE_S,
        clock=clock,
    )


def until(simulation: Simulation, kind: type[Frame] | type[Done]) -> SimulationPart:
    while (part := simulation.next_part()) is not None:
        if isinstance(part.message, kind):
            return part
    raise AssertionError("it ended")


def test_a_hang_names_its_step(clock: Clock, start: Start) -> None:
    """An environment that does not come back from a step is ended after the patience."""
    simulation = start(does="hang in native code", at=6)
    simulation.ask(1, 0, 0)
    while until(simulation, Frame).message.index < 6:  # type: ignore[union-attr]
        pass
    failures: list[UserError] = []

    def receive() -> None:
        try:
            simulation.next_part()
        except UserError as error:
            failures.append(error)

    waiting = threading.Thread(target=receive)
    waiting.start()
    looks = clock.looks
    eventually(lambda: clock.looks > looks + 1)
    assert waiting.is_alive(), "no time has passed"
    clock.now = PATIENCE_S + 1
    waiting.join(PATIENCE_S)
    (failure,) = failures
    assert failure.code == "T415"
    assert "nothing came for 60 s in step 6" in failure.message


def test_rest_is_no_hang(clock: Clock, start: Start) -> None:
    """However long nothing is asked of it, it is there when it is asked again."""
    simulation = start()
    simulation.ask(1, 0, 3)
    until(simulation, Done)
    parts: list[SimulationPart] = []
    waiting = threading.Thread(target=lambda: parts.append(until(simulation, Done)))
    waiting.start()
    clock.now = 100 * PATIENCE_S
    looks = clock.looks
    eventually(lambda: clock.looks > looks or not waiting.is_alive())
    simulation.ask(2, 3, 0)
    waiting.join(PATIENCE_S)
    (part,) = parts
    assert part.message == Done(request=2)
