"""Timeouts of a helper process: hanging and idle processes."""

import itertools
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mosaic_worker
from mosaic.contract.episodes import EpisodeRecording
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.simulation.helper_process import Done, FrameMessage, ScratchFolders
from mosaic.trainer.simulation.resimulation import ResimulationSession, SimulationPart
from mosaic.trainer.simulation.runtime import SimulationRuntime
from tests.support.daemon import eventually
from tests.worker_sdk import helper_process

pytestmark = pytest.mark.process

TIMEOUT_S = 60.0


class Clock:
    """Constant until it is set, or advances with every read."""

    def __init__(self) -> None:
        self.now = 0.0
        self.reads = 0
        self.seconds_per_read = 0.0
        self.at_each_read: Callable[[], None] = lambda: None

    def __call__(self) -> float:
        self.reads += 1
        self.now += self.seconds_per_read
        self.at_each_read()
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


Start = Callable[..., ResimulationSession]


@pytest.fixture
def start(tmp_path: Path, clock: Clock) -> Iterator[Start]:
    """Start simulations with the clock; they are closed after the test."""
    started: list[ResimulationSession] = []

    def start_one(**env_kwargs: Any) -> ResimulationSession:
        started.append(start_simulation(env_kwargs, tmp_path, clock))
        return started[-1]

    yield start_one
    for simulation in started:
        simulation.close()


def start_simulation(
    env_kwargs: dict[str, Any], tmp_path: Path, clock: Clock
) -> ResimulationSession:
    assert mosaic_worker.__file__ is not None
    sdk = Path(mosaic_worker.__file__).parents[1]
    return ResimulationSession(
        EpisodeRecording(
            env_id="odd_environments:Odd-v0",
            env_kwargs=env_kwargs,
            seed=3,
            actions=[1] * 20,
            rewards=[0.0] * 20,
            terminated=True,
            truncated=False,
            is_over=True,
        ),
        SimulationRuntime(Path(sys.executable), (sdk, helper_process.FOLDER)),
        ScratchFolders(Home(tmp_path)),
        {},
        verify_only=False,
        timeout_s=TIMEOUT_S,
        clock=clock,
    )


def until(simulation: ResimulationSession, kind: type[FrameMessage] | type[Done]) -> SimulationPart:
    while (part := simulation.next_part()) is not None:
        if isinstance(part.message, kind):
            return part
    raise AssertionError("the simulation ended")


@pytest.mark.parametrize("fault", ["hang in native code", "hang and print"])
def test_the_error_of_a_hang_names_the_step(clock: Clock, start: Start, fault: str) -> None:
    """An environment that does not return from a step is killed after the timeout."""
    simulation = start(fault=fault, fault_step=6)
    simulation.ask(1, 0, 0)
    while until(simulation, FrameMessage).message.index < 6:  # type: ignore[union-attr]
        pass
    failures: list[UserError] = []

    def receive() -> None:
        try:
            simulation.next_part()
        except UserError as error:
            failures.append(error)

    waiting = threading.Thread(target=receive)
    waiting.start()
    reads = clock.reads
    eventually(lambda: clock.reads > reads + 1)
    assert waiting.is_alive(), "the clock has not advanced"
    clock.now = TIMEOUT_S + 1
    waiting.join(TIMEOUT_S)
    (failure,) = failures
    assert failure.code == "T415"
    assert "no response for 60 s in step 6" in failure.message


def test_idle_is_not_a_hang(clock: Clock, start: Start) -> None:
    """An idle process has no timeout and handles the next request."""
    simulation = start()
    simulation.ask(1, 0, 3)
    until(simulation, Done)
    parts: list[SimulationPart] = []
    waiting = threading.Thread(target=lambda: parts.append(until(simulation, Done)))
    waiting.start()
    clock.now = 100 * TIMEOUT_S
    reads = clock.reads
    eventually(lambda: clock.reads > reads or not waiting.is_alive())
    simulation.ask(2, 3, 0)
    waiting.join(TIMEOUT_S)
    (part,) = parts
    assert part.message == Done(request=2)


def test_many_steps_are_not_a_hang(clock: Clock, start: Start) -> None:
    """Steps before a requested frame are not reported, but count as progress."""
    simulation = start(fault="hang", fault_step=6)
    simulation.ask(1, 0, 0)
    while until(simulation, FrameMessage).message.index < 6:  # type: ignore[union-attr]
        pass
    steps = itertools.count(7)

    def record_step() -> None:
        # Simulates the helper, which hangs, so that nothing else writes the file.
        with simulation._position.open("r+b") as file:
            file.write(struct.pack("<qq", 2, next(steps)))

    clock.seconds_per_read = 0.6 * TIMEOUT_S
    clock.at_each_read = record_step
    failures: list[UserError] = []

    def receive() -> None:
        try:
            simulation.next_part()
        except UserError as error:
            failures.append(error)

    waiting = threading.Thread(target=receive)
    waiting.start()
    reads = clock.reads
    eventually(lambda: clock.reads > reads + 8 or not waiting.is_alive())
    assert waiting.is_alive(), failures
    clock.at_each_read = lambda: None
    waiting.join(TIMEOUT_S)
    assert [failure.code for failure in failures] == ["T415"]
