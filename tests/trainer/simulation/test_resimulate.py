"""Recorded episodes, replayed through a real daemon: frames, verification, and what goes wrong."""

import os
import signal
import threading

import grpc
import pytest

from mosaic.client import TrainerClient
from mosaic.client.errors import TrainerError
from mosaic.client.resimulation import (
    FramesDone,
    Resimulation,
    SimulatedFrame,
    SimulationChecked,
)
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.simulation.conftest import Record, helpers_of

pytestmark = pytest.mark.process

ODD = "odd_environments:Odd-v0"


def frames_of(simulation: Resimulation, first: int, count: int = 0) -> list[SimulatedFrame]:
    """The frames that are asked for, in the order in which they come."""
    requested = simulation.request_frames(first, count)
    frames = []
    for part in simulation:
        if isinstance(part, SimulatedFrame) and part.request == requested:
            frames.append(part)
        elif part == FramesDone(request=requested):
            return frames
    raise AssertionError("it ended before all frames had come")


def checks_of(simulation: Resimulation) -> list[SimulationChecked]:
    return [part for part in simulation if isinstance(part, SimulationChecked)]


def failure_of(simulation: Resimulation) -> TrainerError:
    """Why it breaks off when all of it is asked for."""
    with simulation:
        simulation.request_frames(0)
        with pytest.raises(TrainerError) as caught:
            list(simulation)
    return caught.value


def test_all_frames_of_an_episode(client: TrainerClient, record: Record) -> None:
    """One picture more than steps, in order, and all of them as recorded."""
    run_id = record("LunarLander-v3")
    with client.resimulate(run_id, 0) as simulation:
        opened = simulation.opened
        simulation.request_frames(0)
        parts = []
        for part in simulation:
            parts.append(part)
            if isinstance(part, FramesDone):
                break
    frames = [part for part in parts if isinstance(part, SimulatedFrame)]
    assert opened.steps == 40
    assert opened.fps == 50
    assert opened.warnings == ()
    assert [frame.index for frame in frames] == list(range(41))
    assert {len(frame.pixels()) for frame in frames} == {400 * 600 * 3}
    checks = [part for part in parts if isinstance(part, SimulationChecked)]
    assert checks[-1] == SimulationChecked(steps=40, is_over=True)


def test_any_frame_again(client: TrainerClient, record: Record) -> None:
    """Backwards and at random, each frame is the one that came before."""
    with client.resimulate(record("LunarLander-v3"), 0) as simulation:
        straight = [frame.zstd for frame in frames_of(simulation, 0)]
        for first, count in ((30, 3), (10, 2), (40, 1), (0, 1)):
            again = [frame.zstd for frame in frames_of(simulation, first, count)]
            assert again == straight[first : first + count]


def test_every_episode_of_a_run(client: TrainerClient, record: Record) -> None:
    """Also those that began without a seed, one after the other in the same environment."""
    run_id = record("BipedalWalker-v3", episodes=4)
    for episode in range(4):
        with client.resimulate(run_id, episode, verify_only=True) as simulation:
            last = checks_of(simulation)[-1]
        assert last == SimulationChecked(steps=simulation.opened.steps, is_over=True)


def test_an_environment_that_is_not_deterministic(client: TrainerClient, record: Record) -> None:
    """The replay says at which step it differs."""
    run_id = record(ODD, fault="differ", fault_step=11)
    with client.resimulate(run_id, 0, verify_only=True) as simulation:
        last = checks_of(simulation)[-1]
    assert last.first_difference == 11
    assert last.difference.startswith("step 11: reward ")
    assert last.is_over


def test_an_environment_that_crashes(client: TrainerClient, record: Record) -> None:
    """The error has the signal, the step and the last output; the daemon continues."""
    error = failure_of(client.resimulate(record(ODD, fault="crash", fault_step=6), 0))
    assert error.code == "T414"
    assert "SIGSEGV in step 6" in error.message
    assert "last output" in error.message
    assert "telemetry" in error.remedy
    assert client.health().version


def test_an_environment_that_raises(client: TrainerClient, record: Record) -> None:
    """What it said is reported, from a step as from its reset."""
    in_step = failure_of(client.resimulate(record(ODD, fault="raise", fault_step=6), 0))
    assert in_step.code == "T413"
    assert "failed in step 6: RuntimeError: step failed" in in_step.message
    in_reset = failure_of(client.resimulate(record(ODD, fault="raise in reset"), 0))
    assert "reset failed" in in_reset.message


def test_an_environment_without_pictures(client: TrainerClient, record: Record) -> None:
    """Frames come with the reason why there is nothing to see, and the check is whole."""
    with client.resimulate(record(ODD, rendering="nothing"), 0) as simulation:
        frames = frames_of(simulation, 0)
    assert [frame.problem for frame in frames] == ["render() returned None."] * 21
    assert frames[0].pixels() == b""


def test_pictures_of_changing_size(client: TrainerClient, record: Record) -> None:
    """Each frame has its own size."""
    with client.resimulate(record(ODD, rendering="growing"), 0) as simulation:
        frames = frames_of(simulation, 0)
    assert [frame.height for frame in frames] == [4 + index for index in range(21)]
    assert all(len(frame.pixels()) == frame.width * frame.height * 3 for frame in frames)


def test_a_helper_that_is_killed(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """kill -9 from outside is reported as what it is."""
    with client.resimulate(record(ODD), 0) as simulation:
        frames_of(simulation, 0, 4)
        (pid,) = helpers_of(daemon)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(TrainerError) as caught:
            frames_of(simulation, 0)
    assert "SIGKILL after 3 steps" in caught.value.message


def test_two_replays_at_once(client: TrainerClient, record: Record) -> None:
    """Each has an environment of its own, and neither waits for the other."""
    run_id = record("LunarLander-v3")
    with client.resimulate(run_id, 0) as one, client.resimulate(run_id, 0) as other:
        for first in (0, 20, 10):
            pairs = zip(frames_of(one, first, 2), frames_of(other, first, 2), strict=True)
            assert all(left.zstd == right.zstd for left, right in pairs)


def test_more_replays_than_allowed(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """The ninth is rejected until another one is closed."""
    run_id = record(ODD)
    simulations: list[Resimulation] = []

    def is_opened() -> bool:
        simulation = client.resimulate(run_id, 0)
        try:
            assert simulation.opened.steps == 20
        except TrainerError as error:
            if error.status != "RESOURCE_EXHAUSTED":
                raise
            return False  # of tests before, something is still being cleared up
        simulations.append(simulation)
        return True

    try:
        for _ in range(8):
            eventually(is_opened)
        with client.resimulate(run_id, 0) as ninth, pytest.raises(TrainerError) as caught:
            _ = ninth.opened
        assert caught.value.status == "RESOURCE_EXHAUSTED"
        simulations.pop().close()
        eventually(is_opened)
    finally:
        for simulation in simulations:
            simulation.close()
    eventually(lambda: not helpers_of(daemon))


def test_a_client_that_leaves(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """Its helper process is gone, even one that hangs in native code."""
    for open_request in ({}, {"fault": "hang in native code", "fault_step": 6}):
        simulation = client.resimulate(record(ODD, **open_request), 0)
        simulation.request_frames(0, 6)
        assert next(part for part in simulation if isinstance(part, SimulatedFrame))
        simulation.request_frames(10)
        assert helpers_of(daemon)
        simulation.close()
        assert list(simulation) == []
        eventually(lambda: not helpers_of(daemon))


def test_closing_while_another_thread_waits(client: TrainerClient, record: Record) -> None:
    """The iteration ends, without an error."""
    simulation = client.resimulate(record(ODD), 0)
    assert simulation.opened.steps == 20
    parts: list[object] = []
    waiting = threading.Thread(target=lambda: parts.extend(simulation))
    waiting.start()
    simulation.close()
    waiting.join(60)
    assert not waiting.is_alive()


def test_what_cannot_be_replayed(client: TrainerClient) -> None:
    """The reason is reported, and that the telemetry is still there."""
    run_id = client.submit(
        {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", "params": {"steps": 30}}
    ).run_id
    client.wait(run_id)
    with client.resimulate(run_id, 0) as simulation, pytest.raises(TrainerError) as caught:
        _ = simulation.opened
    assert caught.value.status == "FAILED_PRECONDITION"
    assert caught.value.code == "T410"
    assert "telemetry is still available" in caught.value.remedy


def test_an_episode_that_is_not_there(client: TrainerClient, record: Record) -> None:
    """An unknown episode, and an unknown run."""
    with client.resimulate(record(ODD), 7) as simulation, pytest.raises(TrainerError) as caught:
        next(simulation)
    assert caught.value.status == "NOT_FOUND"
    nowhere = client.resimulate("01J0000000000000000000000Z", 0)
    with nowhere, pytest.raises(TrainerError) as caught:
        _ = nowhere.opened
    assert caught.value.status == "NOT_FOUND"


def test_requests_that_make_no_sense(daemon: DaemonUnderTest, record: Record) -> None:
    """Each is rejected by the name of its field."""
    opening = pb.ResimulateRequest(open=pb.OpenSimulation(run_id=record(ODD)))
    verifying = pb.ResimulateRequest(open=pb.OpenSimulation(run_id=record(ODD), verify_only=True))

    def frames(**fields: int) -> pb.ResimulateRequest:
        return pb.ResimulateRequest(frames=pb.SimulateFrames(**fields))

    for requests, field in (
        ([], "open"),
        ([frames(request=1)], "open"),
        ([opening, opening], "frames"),
        ([opening, frames(request=0)], "frames.request"),
        ([opening, frames(request=1, first=21)], "frames.first"),
        ([opening, frames(request=1, first=-1)], "frames.first"),
        ([opening, frames(request=1, count=-1)], "frames.count"),
        ([verifying, frames(request=1)], "frames"),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            list(daemon.stub.Resimulate(iter(requests), timeout=60))
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT, requests
        assert f"`{field}`" in str(caught.value.details())


def test_a_client_that_ends_its_requests(daemon: DaemonUnderTest, record: Record) -> None:
    """The call ends after the last frame."""
    requests = [
        pb.ResimulateRequest(open=pb.OpenSimulation(run_id=record(ODD))),
        pb.ResimulateRequest(frames=pb.SimulateFrames(request=5, first=18)),
    ]
    parts = list(daemon.stub.Resimulate(iter(requests), timeout=60))
    assert parts[0].opened.steps == 20
    assert [part.frame.index for part in parts if part.HasField("frame")] == [18, 19, 20]
    assert parts[-1].HasField("done")


def test_a_replay_is_not_a_run(
    daemon: DaemonUnderTest, client: TrainerClient, record: Record
) -> None:
    """It is in no list, and leaves nothing in the directory of the run."""
    run_id = record("LunarLander-v3")
    before = {path.name for path in daemon.run(run_id).path.iterdir()}
    runs = len(list(client.runs()))
    with client.resimulate(run_id, 0) as simulation:
        frames_of(simulation, 0, 3)
        assert len(list(client.runs())) == runs
    assert {path.name for path in daemon.run(run_id).path.iterdir()} == before
