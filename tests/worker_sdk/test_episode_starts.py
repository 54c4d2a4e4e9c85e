"""The random state at an episode's start is captured exactly; the bypass changes no result."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from mosaic_worker.emitter import Emitter
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.recorder import EpisodeRecorder
from mosaic_worker.recording.rng_state import make_memory_reader, pack_state, remove_padding
from mosaic_worker.recording.start_states import capture, restore

Attach = Callable[[Any], Any]


@pytest.fixture
def attach(tmp_path: Path) -> Any:
    """Attach an environment to a recorder whose lines are discarded."""
    with (tmp_path / "spool").open("ab") as spool:
        emitter = Emitter(fd=spool.fileno())
        recorder = EpisodeRecorder(emitter, detail="columns")
        yield recorder.attach
        recorder.close()
        emitter.writer.close()


def test_memory_matches_numpy() -> None:
    """All bits are equal, including a buffered half of a random number."""
    generator = np.random.default_rng(5)
    read = make_memory_reader(generator)
    if read is None:
        pytest.skip("the memory layout of this numpy is unknown")
    for _ in range(100):
        generator.integers(0, 1 << 20, dtype=np.uint32)
        assert remove_padding(read()) == pack_state(generator.bit_generator.state)


def test_other_generators_are_not_captured() -> None:
    """Their state could not be restored."""
    env: Any = gymnasium.make("CartPole-v1")
    env.unwrapped.np_random = np.random.Generator(np.random.MT19937(3))
    assert capture(env) is None


def test_a_start_is_restored_in_another_environment() -> None:
    """The observation is the same in a new environment."""
    env: Any = make_environment("CartPole-v1")
    env.reset(seed=1)
    start = capture(env)
    expected, _ = env.reset(options={"low": -0.2, "high": 0.2})
    again, _ = restore(make_environment("CartPole-v1"), None, start, {"low": -0.2, "high": 0.2})
    assert (again == expected).all()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (None, "start was not recorded"),
        ({"kind": "pcg64", "data": "xyz"}, "random generator cannot be read"),
        ({"kind": "new", "data": "0"}, "unknown kind 'new'"),
        ({"kind": "state", "data": "<f8:00"}, "initial state"),
    ],
)
def test_a_damaged_start_is_an_error(start: Any, message: str) -> None:
    """The replay page shows the message."""
    with pytest.raises(WorkerError, match=message):
        restore(make_environment("CartPole-v1"), None, start)


def test_a_recorder_does_not_change_the_environment(attach: Attach) -> None:
    """Time limit, elapsed steps, observations and flags are equal over many episodes."""
    plain: Any = gymnasium.make("CartPole-v1", max_episode_steps=12)
    recorded: Any = attach(gymnasium.make("CartPole-v1", max_episode_steps=12))
    for env in (plain, recorded):
        env.reset(seed=2)
        env.action_space.seed(2)
    end_flags = set()
    for _ in range(400):
        action = plain.action_space.sample()
        expected, actual = plain.step(action), recorded.step(action)
        assert (expected[0] == actual[0]).all()
        assert expected[1:] == actual[1:]
        assert plain._elapsed_steps == recorded._elapsed_steps
        if expected[2] or expected[3]:
            end_flags.add(expected[2:4])
            assert (plain.reset()[0] == recorded.reset()[0]).all()
    assert (False, True) in end_flags
    assert len(end_flags) > 1


def test_gymnasiums_checks_still_apply(attach: Attach) -> None:
    """A step before the first reset is rejected, with and without a recorder."""
    env = attach(gymnasium.make("CartPole-v1"))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
