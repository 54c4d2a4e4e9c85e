"""Lines that the recorder writes for the episodes of any training loop."""

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from mosaic.contract.decode import decode
from mosaic_worker.emitter import Emitter
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.recording.recorder import EpisodeRecorder


class Recording:
    """A recorder that writes to a file, and its lines."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "spool"
        self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.emitter = Emitter(fd=self._fd)
        self.recorders: list[EpisodeRecorder] = []

    def with_detail(self, detail: str) -> EpisodeRecorder:
        self.recorders.append(EpisodeRecorder(self.emitter, detail=detail))
        return self.recorders[-1]

    def lines(self, *kinds: str) -> list[dict[str, Any]]:
        """Lines of these types, in order; the trainer can decode each."""
        for recorder in self.recorders:
            recorder.flush()
        self.emitter.flush()
        lines = self._path.read_bytes().splitlines()
        for line in lines:
            decode(line)
        events = map(json.loads, lines)
        return [event for event in events if not kinds or event["type"] in kinds]

    def close(self) -> None:
        for recorder in self.recorders:
            recorder.close()
        self.emitter.writer.close()
        os.close(self._fd)


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    recording = Recording(tmp_path)
    yield recording
    recording.close()


class Counting(gymnasium.Env[Any, Any]):
    """Ends after four steps; a test sets the rewards."""

    observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)

    def __init__(self, rewards: Any = (1.0, 2.0, 3.0, 4.0)) -> None:
        self._rewards = rewards
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if action[0] > 1:
            raise RuntimeError("the environment is broken")
        reward = self._rewards[self._steps]
        self._steps += 1
        return np.full(2, self._steps, np.float32), reward, self._steps == 4, False, {}


def play(env: Any, steps: int, action: Any = None) -> None:
    """Take `steps` steps, with a reset after each episode."""
    for _ in range(steps):
        chosen = env.action_space.sample() if action is None else action
        _, _, terminated, truncated, _ = env.step(chosen)
        if terminated or truncated:
            env.reset()


@pytest.mark.parametrize("detail", ["all", "sampled", "columns", "off"])
def test_steps_of_each_detail_level(recording: Recording, detail: str) -> None:
    """Every level has the episodes; all but `off` have every action and reward."""
    env = recording.with_detail(detail).attach(make_environment("FrozenLake-v1"))
    env.action_space.seed(1)
    env.reset(seed=3)
    play(env, 200)
    episodes = recording.lines("episode")
    assert len(episodes) > 10
    written = {
        "step": len(recording.lines("step")),
        "columns": sum(
            len(line.get("actions", ())) for line in recording.lines("steps", "episode")
        ),
    }
    expected = sum(line["steps"] for line in episodes)
    running = written["step"] + written["columns"] - expected
    if detail == "off":
        assert written == {"step": 0, "columns": 0}
    else:
        assert 0 <= running < 100  # of the unfinished episode
        assert bool(written["step"]) == (detail in ("all", "sampled"))
        assert bool(written["columns"]) == (detail in ("sampled", "columns"))
    starts = [line for line in recording.lines("episode_start", "episode") if "episode" in line]
    assert starts[0]["seed"] == 3
    later = [line for line in starts if line["episode"] > 0 and ("seed" in line or "start" in line)]
    assert all(line["start"]["kind"] == "pcg64" for line in later)


def test_outer_wrappers_do_not_affect_the_record(recording: Recording) -> None:
    """The reward of the environment is recorded, not that of a wrapper around it."""
    env = recording.with_detail("columns").attach(make_environment("CartPole-v1"))
    wrapped = gymnasium.wrappers.TransformReward(env, lambda reward: float(reward) * 100)
    wrapped.reset(seed=1)
    assert wrapped.step(1)[1] == 100.0
    assert recording.lines("steps")[0]["rewards"] == [1.0]


def test_a_reset_in_the_middle_ends_the_episode(recording: Recording) -> None:
    """Its steps are written, and it is neither terminated nor truncated."""
    env = recording.with_detail("columns").attach(make_environment("CartPole-v1"))
    env.reset(seed=1)
    env.reset(seed=2)  # without a step there is no episode
    play(env, 3, 0)
    env.reset()
    play(env, 1, 0)
    (ended,) = recording.lines("episode")
    assert (ended["steps"], ended["terminated"], ended["truncated"]) == (3, False, False)
    assert ended["seed"] == 2


def test_rewards_and_actions_of_any_kind(recording: Recording) -> None:
    """NaN, infinities, numpy numbers and integers round-trip."""
    rewards = (math.nan, np.float32(0.1), 7, -math.inf)
    env = recording.with_detail("columns").attach(Counting(rewards))
    env.reset(seed=1)
    action = np.array([0.1, -0.5], np.float32)
    play(env, 4, action)
    (ended,) = recording.lines("episode")
    assert ended["rewards"] == ["NaN", float(np.float32(0.1)), 7, "-Infinity"]
    assert ended["actions"] == [[float(np.float32(0.1)), -0.5]] * 4


def test_an_action_that_is_changed_afterwards(recording: Recording) -> None:
    """A reused array is recorded with its value at each step."""
    env = recording.with_detail("columns").attach(Counting())
    env.reset(seed=1)
    action = np.zeros(2, np.float32)
    for step in range(4):
        action[:] = step / 8
        env.step(action)
    assert recording.lines("episode")[0]["actions"] == [[step / 8] * 2 for step in range(4)]


def test_exceptions_of_the_environment_pass_through(recording: Recording) -> None:
    """Steps before the exception are written."""
    env = recording.with_detail("columns").attach(Counting())
    env.reset(seed=1)
    play(env, 2, np.zeros(2, np.float32))
    with pytest.raises(RuntimeError, match="the environment is broken"):
        env.step(np.array([2.0, 0.0], np.float32))
    assert recording.lines("steps")[0]["rewards"] == [1.0, 2.0]


def test_an_environment_that_cannot_be_recreated(recording: Recording) -> None:
    """It is recorded, with the reason why its episodes cannot be replayed."""
    env = recording.with_detail("columns").attach(Counting())
    env.reset(seed=1)
    play(env, 4, np.zeros(2, np.float32))
    assert "id" in recording.lines("environment")[0]["not_replayable"]
    assert recording.lines("episode")


def test_annotations_apply_to_the_next_step_only(recording: Recording) -> None:
    """The next step has its actor and command; later steps do not."""
    recorder = recording.with_detail("all")
    env = recorder.attach(make_environment("CliffWalking-v1"))
    env.reset(seed=1)
    recorder.annotate(actor="human", seq=7)
    env.step(0)
    env.step(0)
    first, second = recording.lines("step")
    assert (first["actor"], first["seq"]) == ("human", 7)
    assert "actor" not in second


def test_a_listener_sees_every_step_in_any_detail(recording: Recording) -> None:
    """Frames can be shown at any detail."""
    recorder = recording.with_detail("columns")
    env = recorder.attach(make_environment("FrozenLake-v1", {"is_slippery": False}))
    seen: list[tuple[int, int]] = []
    recorder.listener = lambda fields: seen.append((fields["step"], fields["action"]))
    env.reset(seed=1)
    for action in (2, 2, 1):
        env.step(action)
    assert seen == [(0, 2), (1, 2), (2, 1)]


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_sub_environments_of_a_vector(recording: Recording, mode: str) -> None:
    """Each has its own episodes with all steps."""
    envs: Any = gymnasium.vector.SyncVectorEnv(
        [lambda: make_environment("CartPole-v1")] * 3,
        autoreset_mode=gymnasium.vector.AutoresetMode[mode],
    )
    recording.with_detail("columns").attach_vector(envs)
    envs.action_space.seed(1)
    envs.reset(seed=1)
    ends = 0
    for _ in range(200):
        _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
        ends += int((terminated | truncated).sum())
    episodes = recording.lines("episode")
    assert len(episodes) == ends
    assert {line["env_index"] for line in episodes} == {0, 1, 2}
    assert all(line["steps"] == len(line["actions"]) for line in episodes if not line.get("first"))
    assert len({line["episode"] for line in episodes}) == ends


def test_a_vector_environment_with_shared_state(recording: Recording) -> None:
    """Each episode is recorded with its column of the state, from which it can be replayed."""
    envs: Any = gymnasium.make_vec(
        "CartPole-v1", num_envs=2, vectorization_mode="vector_entry_point"
    )
    recording.with_detail("columns").attach_vector(envs)
    envs.action_space.seed(1)
    envs.reset(seed=1)
    for _ in range(120):
        envs.step(envs.action_space.sample())
    episodes = recording.lines("episode")
    assert len(episodes) > 2
    assert {line["start"]["kind"] for line in episodes} == {"state"}
    assert "not_replayable" not in recording.lines("environment")[0]


def test_sub_environments_in_other_processes(recording: Recording) -> None:
    """They are recorded from outside, and marked as not replayable."""
    envs: Any = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="async")
    try:
        recording.with_detail("columns").attach_vector(envs)
        envs.reset(seed=1)
        for _ in range(120):
            envs.step(np.zeros(2, int))
    finally:
        envs.close()
    assert len(recording.lines("episode")) > 2
    assert "another process" in recording.lines("environment")[-1]["not_replayable"]


@pytest.mark.process
def test_an_idle_loop_loses_no_step_when_killed(tmp_path: Path) -> None:
    """Every step is in the spool shortly after the call of `step`."""
    script = """
import time
from mosaic_worker.emitter import Emitter
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.recording.recorder import EpisodeRecorder

env = EpisodeRecorder(Emitter(), detail="columns").attach(make_environment("Pendulum-v1"))
env.reset(seed=1)
for _ in range(50):
    env.step([0.0])
time.sleep(1000)
"""
    spool = tmp_path / "spool"
    with spool.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-c", script], stdout=file)
    try:
        while spool.read_bytes().count(b'"steps"') < 1 or _steps_in(spool) < 50:
            assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert _steps_in(spool) == 50


def _steps_in(spool: Path) -> int:
    lines = spool.read_bytes().splitlines(keepends=True)
    complete = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return sum(len(line["actions"]) for line in complete if line["type"] == "steps")
