"""Plays and replays episodes for `replay_exactness`, in the Python of the session bundle.

    exactness_child.py record ENV single|vector EPISODES   telemetry on stdout
    exactness_child.py replay FILE                         one EpisodeRecording a line; what differs

Imports only the SDK: a bundle contains nothing else of MOSAIC.
"""

import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

_MAX_EPISODE_STEPS = 300
_NUM_ENVS = 2


def main() -> None:
    here = Path.cwd()
    os.chdir(tempfile.mkdtemp())  # MuJoCo writes its log where it is
    if sys.argv[1] == "record":
        record(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        replay(here / sys.argv[2])


def record(env_id: str, kind: str, episodes: int) -> None:
    """Record episodes with random actions; only the first one is seeded."""
    from mosaic_worker.emitter import Emitter  # noqa: PLC0415 - after the folder was changed
    from mosaic_worker.recording.recorder import EpisodeRecorder  # noqa: PLC0415 - likewise

    recorder = EpisodeRecorder(Emitter(), detail="columns")
    (play_vector if kind == "vector" else play_single)(recorder, env_id, episodes)
    recorder.close()


def play_single(recorder: Any, env_id: str, episodes: int) -> None:
    from mosaic_worker.environments.factory import make_environment  # noqa: PLC0415 - likewise

    env = recorder.attach(make_environment(env_id))
    env.action_space.seed(7)
    for episode in range(episodes):
        env.reset(**({"seed": 11} if episode == 0 else {}))
        for _ in range(_MAX_EPISODE_STEPS):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                break


def play_vector(recorder: Any, env_id: str, episodes: int) -> None:
    """Play a vector environment with autoreset, in both autoreset modes."""
    import gymnasium  # noqa: PLC0415 - likewise

    from mosaic_worker.environments.factory import make_environment  # noqa: PLC0415 - likewise

    modes = gymnasium.vector.AutoresetMode
    for mode in (modes.NEXT_STEP, modes.SAME_STEP):
        envs = gymnasium.vector.SyncVectorEnv(
            [lambda: make_environment(env_id)] * _NUM_ENVS, autoreset_mode=mode
        )
        recorder.attach_vector(envs)
        envs.action_space.seed(random.Random(3).randrange(1000))
        envs.reset(seed=5)
        left = max(1, episodes // 2 - _NUM_ENVS)
        for _ in range(left * _MAX_EPISODE_STEPS):
            _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
            left -= int((terminated | truncated).sum())
            if left <= 0:
                break
        envs.close()


def replay(file: Path) -> None:
    """Print one line for each recording: empty, or the difference."""
    from mosaic_worker.resimulation.episode_record import (  # noqa: PLC0415 - likewise
        RecordComparison,
        read_record,
    )
    from mosaic_worker.resimulation.messages import PositionFile  # noqa: PLC0415 - likewise
    from mosaic_worker.resimulation.simulation import EpisodeSimulation  # noqa: PLC0415 - likewise

    for line in file.read_text().splitlines():
        path = Path("recording.json")
        path.write_text(line)
        episode = read_record(path)
        comparison = RecordComparison(episode)
        simulation = EpisodeSimulation(episode, comparison, PositionFile(None), has_frames=False)
        simulation.open()
        while simulation.step():
            pass
        simulation.close()
        ended_early = "" if comparison.is_finished else f"it ended after {comparison.steps} steps"
        print(json.dumps(comparison.difference or ended_early), flush=True)


if __name__ == "__main__":
    main()
