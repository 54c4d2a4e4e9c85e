"""With minimal telemetry enabled, episodes of an unmodified script replay exactly."""

import json
from pathlib import Path
from typing import Any

import pytest
from workers.cleanrl_worker.tests.upstream.script_process import ScriptUnderTest, StartScript

from mosaic_worker.frames import MAGIC
from mosaic_worker.resimulation.episode_record import RecordComparison, read_record
from mosaic_worker.resimulation.messages import PositionFile
from mosaic_worker.resimulation.simulation import EpisodeSimulation

pytestmark = pytest.mark.process

TRAINS = """
import gymnasium as gym

def make_env(index):
    def thunk():
        env = gym.make(args.env_id)
        env = gym.wrappers.RecordEpisodeStatistics(env)
        env.action_space.seed(args.seed + index)
        return env
    return thunk

envs = gym.vector.SyncVectorEnv([make_env(index) for index in range(2)])
envs.action_space.seed(args.seed)
envs.reset(seed=args.seed)
for step in range(args.total_timesteps // 2):
    _, _, terminated, truncated, infos = envs.step(envs.action_space.sample())
    for ended in (terminated | truncated).nonzero()[0]:
        print(f"global_step={2 * step}, episodic_return={infos['episode']['r'][ended]}")
print(__name__, __file__ == sys.argv[0], os.path.dirname(os.path.abspath(__file__)) == sys.path[0])
envs.close()
"""


def recordings(worker: ScriptUnderTest) -> list[dict[str, Any]]:
    """Return the finished episodes in the format of a replay."""
    environments = {event["env_index"]: event for event in worker.events("environment")}
    starts = {event["episode_id"]: event for event in worker.events("episode_start")}
    columns: dict[str, dict[str, list[Any]]] = {}
    for event in worker.events():
        if event["type"] in ("steps", "episode"):
            values = columns.setdefault(event["episode_id"], {"actions": [], "rewards": []})
            for name in values:
                values[name] += event.get(name) or []
    made = []
    for end in worker.events("episode"):
        origin = starts.get(end["episode_id"], end)
        environment = environments[end["env_index"]]
        made.append(
            {
                **{name: environment[name] for name in ("env_id", "env_kwargs")},
                "max_episode_steps": environment["max_episode_steps"],
                **{name: origin.get(name) for name in ("seed", "start", "options")},
                "action_dtype": origin.get("action_dtype"),
                **columns[end["episode_id"]],
                **{name: end[name] for name in ("terminated", "truncated")},
                "is_over": True,
                "packages": {},
            }
        )
    return made


def difference(recording: dict[str, Any], path: Path) -> str:
    """Return the first difference of a replay; empty if there is none."""
    path.write_text(json.dumps(recording))
    episode = read_record(path)
    comparison = RecordComparison(episode)
    simulation = EpisodeSimulation(episode, comparison, PositionFile(None), has_frames=False)
    simulation.open()
    while simulation.step():
        pass
    simulation.close()
    return comparison.difference if comparison.is_finished else "it ended early"


def test_episodes_of_a_script_replay_exactly(start: StartScript, tmp_path: Path) -> None:
    """Also those without a seed; each episode is reported once."""
    worker = start(TRAINS, seed=3, total_timesteps=600, telemetry={"steps": "columns"})
    assert worker.wait() == 0
    assert {event["env_index"] for event in worker.events("environment")} == {0, 1}
    played = recordings(worker)
    assert len(played) > 5
    assert any(recording["seed"] is None for recording in played)
    assert not any(difference(recording, tmp_path / "episode.json") for recording in played)
    printed = [event["value"] for event in worker.events("metric")]
    assert sorted(printed) == sorted(event["return"] for event in worker.events("episode"))


def test_the_script_does_not_see_the_instrumentation(start: StartScript) -> None:
    """`__main__`, path and arguments are the same as without it."""
    worker = start(TRAINS, total_timesteps=20, telemetry={"steps": "columns"})
    assert worker.wait() == 0
    assert "__main__ True True" in worker.log.read_text()


def test_live_frames_of_an_unmodified_script(start: StartScript) -> None:
    """The first environment renders, although the script created it without a render mode."""
    worker = start(TRAINS, total_timesteps=60, telemetry={"frames": True})
    assert worker.wait() == 0
    assert (worker.folder / "frames").read_bytes()[: len(MAGIC)] == MAGIC
    assert worker.logs("W250") == []


def test_an_environment_without_frames_is_reported_once(start: StartScript) -> None:
    """The training continues without frames."""
    without_render_mode = """
import gymnasium as gym

class WithoutRenderMode(gym.Env):
    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}
    def step(self, action):
        return 1, 1.0, False, False, {}

gym.register("WithoutRenderMode-v0", WithoutRenderMode, max_episode_steps=5)
"""
    worker = start(
        without_render_mode + TRAINS,
        env_id="WithoutRenderMode-v0",
        total_timesteps=40,
        telemetry={"frames": True},
    )
    assert worker.wait() == 0
    assert len(worker.logs("W250")) == 1


def test_environments_in_other_processes_are_recorded_by_their_vector(start: StartScript) -> None:
    """They are marked as not replayable; their episodes are reported."""
    body = TRAINS.replace("SyncVectorEnv", "AsyncVectorEnv")
    worker = start(body, total_timesteps=200, telemetry={"steps": "columns"})
    assert worker.wait() == 0
    assert len(worker.events("episode")) > 2
    assert any("not_replayable" in event for event in worker.events("environment"))
    ids = [event["episode_id"] for event in worker.events("episode")]
    assert len(ids) == len(set(ids))


def test_a_script_that_fails_keeps_its_episodes(start: StartScript) -> None:
    """What was recorded before the error is written."""
    worker = start(
        f"{TRAINS}\nraise RuntimeError('late')", total_timesteps=200, telemetry={"steps": "columns"}
    )
    assert worker.wait() == 1
    assert "late" in worker.bye()["error"]
    assert worker.events("episode")
