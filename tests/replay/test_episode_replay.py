"""EpisodeReplay: cached and requested frames, in any order, also if the simulation fails."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mosaic.client.resimulation import SimulatedFrame, SimulationChecked
from mosaic.contract.errors import UserError
from mosaic.replay.episode_replay import EpisodeReplay
from mosaic.replay.replay_state import ReplayState
from tests.replay.stand_in import TIMEOUT_S, StandInClient, colour_of, make_missing_frame
from tests.support.daemon import eventually

Open = Callable[..., EpisodeReplay]


@pytest.fixture
def open_replay() -> Iterator[Open]:
    """Replays that are closed and joined after the test."""
    opened: list[EpisodeReplay] = []

    def open_episode(client: StandInClient, **options: Any) -> EpisodeReplay:
        opened.append(EpisodeReplay(client, "RUN", 0, **options))
        return opened[-1]

    yield open_episode
    for replay in opened:
        replay.close()
        assert replay.join(TIMEOUT_S)


def when(replay: EpisodeReplay, condition: Callable[[ReplayState], object]) -> ReplayState:
    return eventually(lambda: (state := replay.state) and (state if condition(state) else None))


def test_all_frames_are_read_ahead(open_replay: Open) -> None:
    """Reading ahead fills the cache to the end, and each frame is the right one."""
    replay = open_replay(StandInClient(steps=40))
    state = when(replay, lambda state: state.cached == (range(41),))
    assert (state.steps, state.frames, state.fps, state.error) == (40, 41, 25.0, None)
    for index in (0, 17, 40):
        frame = replay.frame(index)
        assert frame is not None
        assert (frame.index, frame.width, frame.height) == (index, 32, 24)
        assert tuple(frame.pixels[:3]) == colour_of(index)


def test_missing_frame_is_reported_immediately(open_replay: Open) -> None:
    """Nothing blocks; `wait` has a timeout."""
    client = StandInClient(steps=40)
    client.gate.limit(0)
    replay = open_replay(client)
    assert replay.frame(3) is None
    assert replay.wait_frame(3, 0.01) is None
    client.gate.limit(1_000)
    frame = replay.wait_frame(3, TIMEOUT_S)
    assert frame is not None
    assert tuple(frame.pixels[:3]) == colour_of(3)


def test_seek_replaces_earlier_request(open_replay: Open) -> None:
    """Frames in between are not rendered first."""
    client = StandInClient(steps=5_000)
    client.gate.limit(5)
    replay = open_replay(client)
    when(replay, lambda state: state.cached == (range(5),))
    replay.seek(4_000)
    client.gate.limit(8)
    frame = replay.wait_frame(4_000, TIMEOUT_S)
    assert frame is not None
    assert client.made[:6] == [*range(5), 4_000]


@pytest.mark.parametrize("order", [range(59, -1, -1), [30, 2, 59, 0, 31, 29, 58]])
def test_backward_and_random_access(open_replay: Open, order: list[int]) -> None:
    """With space for a few frames only, every frame is still available."""
    replay = open_replay(StandInClient(steps=59), memory_bytes=8_000)
    for index in order:
        frame = replay.wait_frame(index, TIMEOUT_S)
        assert frame is not None
        assert tuple(frame.pixels[:3]) == colour_of(index)
        assert replay.state.cached_bytes <= 8_000


def test_playing_forwards_with_little_memory(open_replay: Open) -> None:
    """Displayed frames are evicted, and no frame is rendered more than a few times."""
    client = StandInClient(steps=400)
    replay = open_replay(client, memory_bytes=60_000)
    for index in range(401):
        assert replay.wait_frame(index, TIMEOUT_S) is not None
    assert len(client.made) < 3 * 401


def test_playhead_stays_within_episode(open_replay: Open) -> None:
    """Indices outside of the episode are clamped."""
    replay = open_replay(StandInClient(steps=10))
    when(replay, lambda state: state.is_open)
    replay.seek(99)
    assert replay.state.playhead == 10
    replay.seek(-5)
    assert replay.state.playhead == 0
    assert replay.wait_frame(99, TIMEOUT_S) is None


def test_seek_before_open_is_applied(open_replay: Open) -> None:
    """The first rendered frame is the one at the playhead."""
    client = StandInClient(steps=100)
    client.gate.limit(0)
    replay = open_replay(client)
    replay.seek(50)
    client.gate.limit(500)
    assert replay.wait_frame(50, TIMEOUT_S) is not None


def test_difference_is_reported(open_replay: Open) -> None:
    """The step, and a description."""
    client = StandInClient()
    client.warnings = ("gymnasium is 1.4.0, it was 1.3.0.",)
    client.checks = [
        SimulationChecked(steps=2, is_over=False),
        SimulationChecked(steps=4, is_over=True, first_difference=4, difference="reward 1, not 2"),
    ]
    state = when(open_replay(client), lambda state: state.is_checked)
    assert (state.checked_steps, state.first_difference) == (4, 4)
    assert state.difference == "reward 1, not 2"
    assert state.warnings == client.warnings


def test_episode_that_cannot_be_replayed_has_reason(open_replay: Open) -> None:
    """As an error in the state, never as an exception."""
    client = StandInClient()
    client.error = UserError("Its bundle is gone.", remedy="Install it.", code="X2")
    replay = open_replay(client)
    error = when(replay, lambda state: state.error).error
    assert error is not None
    assert (error.message, error.remedy, error.code) == ("Its bundle is gone.", "Install it.", "X2")
    assert replay.frame(0) is None
    assert replay.wait_frame(0, TIMEOUT_S) is None


def test_frames_survive_the_simulation(open_replay: Open) -> None:
    """After a crash the received frames stay, and a retry gets the rest."""
    client = StandInClient(steps=40)
    client.breaks_at = 20
    replay = open_replay(client)
    state = when(replay, lambda state: state.error)
    assert state.error is not None
    assert state.error.message == "The environment crashed."
    assert state.cached == (range(20),)
    assert replay.frame(19) is not None
    assert replay.wait_frame(30, TIMEOUT_S) is None
    client.breaks_at = None
    replay.retry()
    assert replay.wait_frame(30, TIMEOUT_S) is not None
    when(replay, lambda state: state.cached == (range(41),) and state.error is None)


def test_internal_error_is_reported(open_replay: Open) -> None:
    """It is logged, and is an error in the state."""
    client = StandInClient()

    def draw(_: int) -> SimulatedFrame:
        raise ZeroDivisionError

    client.draw = draw
    error = when(open_replay(client), lambda state: state.error).error
    assert error is not None
    assert error.code == "C170"
    assert "ZeroDivisionError" in error.message


def test_environment_without_frames(open_replay: Open) -> None:
    """Each frame has the reason."""
    client = StandInClient()
    client.draw = make_missing_frame
    frame = open_replay(client).wait_frame(3, TIMEOUT_S)
    assert frame is not None
    assert not frame.has_pixels
    assert frame.problem == "The environment has no pictures."


def test_on_change_is_called(open_replay: Open) -> None:
    """Until the replay is closed; then its frames are released."""
    changes: list[int] = []
    replay = open_replay(StandInClient(steps=10), on_change=lambda: changes.append(1))
    when(replay, lambda state: state.cached == (range(11),))
    replay.close()
    assert replay.join(TIMEOUT_S)
    assert len(changes) >= 11
    assert replay.state.is_closed
    assert replay.state.cached == ()
    assert replay.frame(0) is None
    assert replay.wait_frame(0, TIMEOUT_S) is None


def test_verification_result_outlives_simulation(open_replay: Open) -> None:
    """A result is kept when the simulation restarts and has compared nothing yet."""
    client = StandInClient(steps=10)
    client.checks = [SimulationChecked(steps=10, is_over=True)]
    replay = open_replay(client)
    when(replay, lambda state: state.cached == (range(11),) and state.is_checked)
    client.checks = [SimulationChecked(steps=0, is_over=False)]
    _break_and_retry(replay)
    _break_and_retry(replay)  # again, so that all messages of the second one were handled
    state = replay.state
    assert (state.is_checked, state.checked_steps) == (True, 10)


def test_unverified_episode_is_verified_after_retry(open_replay: Open) -> None:
    """Although every frame is cached."""
    client = StandInClient(steps=10)
    replay = open_replay(client)
    when(replay, lambda state: state.cached == (range(11),))
    client.requests.clear()
    _break_and_retry(replay)
    eventually(lambda: client.requests == [(10, 1)])


def _break_and_retry(replay: EpisodeReplay) -> None:
    assert replay._simulation is not None
    replay._simulation.close()
    when(replay, lambda state: state.error)
    replay.retry()
    when(replay, lambda state: state.error is None and replay._simulation is not None)
