"""How many recorded episodes replay exactly: every reward bit for bit, and every end flag.

    benchmarks/run replay_exactness [--episodes N]

For each of thirteen environments a process records episodes with random actions, alone (only the
first one seeded) and as a vector environment in both autoreset modes. The lines are stored, and a
new process replays the stored recordings. The baseline is the usual way of "replaying" an episode:
the run's seed and the recorded actions in a new environment.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from cached_bundles import bundle_python
from report import print_table

from mosaic.contract import numbers
from mosaic.contract.episodes import EpisodeRecording
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService

ENVIRONMENTS = (
    "FrozenLake-v1",
    "CliffWalking-v1",
    "Taxi-v4",
    "Blackjack-v1",
    "CartPole-v1",
    "Acrobot-v1",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
    "LunarLander-v3",
    "BipedalWalker-v3",
    "ALE/Breakout-v5",
    "HalfCheetah-v5",
    "MiniGrid-Empty-Random-6x6-v0",
)
_CHILD = Path(__file__).with_name("exactness_child.py")
_SDK = Path(__file__).parents[1] / "worker_sdk" / "src"
_FIRST_SEED = 11


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--episodes", type=int, default=19, help="Episodes per environment and mode. Default: 19."
    )
    parser.add_argument("--env", action="append", help="Only this environment; may be repeated.")
    parser.add_argument(
        "--python", type=Path, help="Python to use instead of that of the session bundle."
    )
    options = parser.parse_args()
    python = options.python or bundle_python()
    rows: list[tuple[object, ...]] = []
    total = identical = 0
    for env_id in options.env or ENVIRONMENTS:
        for kind in ("single", "vector"):
            with tempfile.TemporaryDirectory() as folder:
                recordings = recorded(python, Path(folder), env_id, kind, options.episodes)
                differences = replayed(python, Path(folder), recordings)
                by_seed = replayed(python, Path(folder), [_by_seed(each) for each in recordings])
            same = differences.count("")
            total, identical = total + len(recordings), identical + same
            steps = sum(len(each.actions) for each in recordings)
            rows.append(
                (env_id, kind, *map(str, (len(recordings), steps, same, by_seed.count(""))))
            )
            for difference in filter(None, differences):
                print(f"{env_id}, {kind}: {difference}", file=sys.stderr)
    print_table(
        "Recorded, stored, and played again",
        ("environment", "", "episodes", "steps", "identical", "by seed alone"),
        rows,
    )
    print(f"{identical} of {total} episodes replay identically  (goal: all)")
    sys.exit(identical != total)


def recorded(
    python: Path, folder: Path, env_id: str, kind: str, episodes: int
) -> list[EpisodeRecording]:
    """Record episodes in a separate process and read them back from a store."""
    run = RunDirectory(folder / new_ulid())
    run.path.mkdir()
    with run.spool.open("ab") as spool:
        _child(python, folder, ["record", env_id, kind, str(episodes)], spool)
    with TelemetryService(run) as service:
        assert service.finish(), service.status()
    with TelemetryReader(run) as reader:
        found = [reader.recording(episode.episode) for episode in reader.episodes()]
    assert all(isinstance(each, EpisodeRecording) for each in found), found
    return [each for each in found if isinstance(each, EpisodeRecording)]


def replayed(python: Path, folder: Path, recordings: list[EpisodeRecording]) -> list[str]:
    """Return the difference of each episode; empty if there is none."""
    lines = [
        msgspec.json.encode(numbers.to_wire(msgspec.to_builtins(recording)))
        for recording in recordings
    ]
    (folder / "recordings.jsonl").write_bytes(b"\n".join(lines))
    with (folder / "answers").open("wb") as answers:
        _child(python, folder, ["replay", "recordings.jsonl"], answers)
    found: list[str] = [
        json.loads(line)
        for line in (folder / "answers").read_text().splitlines()
        if line.startswith('"')  # libraries print, too
    ]
    assert len(found) == len(recordings)
    return found


def _by_seed(recording: EpisodeRecording) -> EpisodeRecording:
    seed = recording.seed if recording.seed is not None else _FIRST_SEED
    return msgspec.structs.replace(recording, seed=seed, start=None)


def _child(python: Path, folder: Path, arguments: list[str], stdout: Any) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(_SDK),
        "SDL_VIDEODRIVER": "dummy",
        "MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl"),
    }
    done = subprocess.run(
        [str(python), str(_CHILD), *arguments],
        cwd=folder,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr.decode())


if __name__ == "__main__":
    main()
