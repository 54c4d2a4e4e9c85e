"""Frames of a recorded episode, through daemon and client, against the renderer's limit.

    benchmarks/run resimulation [--steps N] [--passes N]

The limit is a plain loop of `step` and `render` over the same actions in one process. Both sides
alternate, so that load affects both alike; the table shows the medians, and the median ratio of
neighbouring rounds. Through the daemon, each frame is rendered by the
helper process, compressed, sent, and decompressed by the client.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from report import print_table
from throwaway_daemon import run_daemon

from mosaic.client import TrainerClient
from mosaic.client.resimulation import FramesDone, Resimulation, SimulatedFrame, SimulationChecked
from mosaic.contract.layout import Home

WORKER = "resimulation_worker"
WORKER_CODE = """
import sys
from mosaic_worker import Algorithm, Descriptor, Environments, Parameter, main
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.recording.recorder import EpisodeRecorder

def train(run):
    recorder = EpisodeRecorder(run.emitter, detail="columns")
    env = recorder.attach(make_environment(run.config.env_id, {}))
    env.action_space.seed(1)
    env.reset(seed=1)
    for _ in range(run.config.params["steps"]):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            break
    recorder.close()

steps = Parameter("steps", "int", 100, min=1)
DESCRIPTOR = Descriptor(
    worker="resimulation_worker", label="Recorder", version="1", summary="Records random play.",
    algorithms=(Algorithm(id="random", label="Random", doc="", parameters=(steps,)),),
    environments=Environments(any=True),
)
sys.exit(main(DESCRIPTOR, train))
"""
PLAIN_LOOP = """
import sys, time
from mosaic_worker.environments.factory import make_environment

env_id, steps = sys.argv[1], int(sys.argv[2])
env = make_environment(env_id, {}, render_mode="rgb_array")
env.action_space.seed(1)
actions = [env.action_space.sample() for _ in range(steps)]
for _ in sys.stdin:
    env.reset(seed=1)
    began = time.perf_counter()
    env.render()
    for action in actions:
        env.step(action)
        env.render()
    print((steps + 1) / (time.perf_counter() - began), flush=True)
"""


class Goal(NamedTuple):
    """Goal of an environment: a multiple of real time, or a share of the limit."""

    env_id: str
    times_real: float | None = None
    share: float | None = None

    def __str__(self) -> str:
        return f"{self.times_real:g} x real time" if self.times_real else f"{self.share:.0%}"


GOALS = (
    Goal("LunarLander-v3", times_real=5.0),
    Goal("BipedalWalker-v3", share=0.9),
    Goal("CarRacing-v3", share=0.9),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--steps", type=int, default=300, help="Maximum steps per episode. Default: 300."
    )
    parser.add_argument("--passes", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mosaic-bench-") as folder:
        home = Home(Path(folder))
        add_worker(home)
        with run_daemon(home) as client:
            rows = [row(client, goal, options.steps, options.passes) for goal in GOALS]
    print_table(
        "re-simulation, frames a second",
        ("environment", "frames", "limit", "through daemon", "x real time", "of limit", "goal"),
        rows,
    )


def add_worker(home: Home) -> None:
    """A worker without a bundle: it runs with the packages of the benchmarks."""
    folder = home.path / "workers" / WORKER
    package = folder / "src" / WORKER
    package.mkdir(parents=True)
    (folder / "worker.toml").write_text(
        f'id = "{WORKER}"\nlabel = "Recorder"\nmodule = "{WORKER}"\npython = ">=3.11"\n'
    )
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(WORKER_CODE)
    home.trainer.mkdir(mode=0o700)
    home.settings.write_text(f"worker_folders = [{json.dumps(str(folder.parent))}]\n")


def row(client: TrainerClient, goal: Goal, steps: int, passes: int) -> tuple[object, ...]:
    run = client.submit(
        {"worker": WORKER, "algo": "random", "env_id": goal.env_id, "params": {"steps": steps}}
    )
    done = client.wait(run.run_id)
    assert done.state == "succeeded", done.reason
    limits, reached = [], []
    with client.resimulate(run.run_id, 0) as simulation:
        opened = simulation.opened
        with plain_loop(goal.env_id, opened.steps) as loop:
            for _ in range(passes):
                limits.append(run_plain_pass(loop))
                reached.append(run_daemon_pass(simulation))
    share = statistics.median(ours / limit for ours, limit in zip(reached, limits, strict=True))
    fps = statistics.median(reached)
    return (
        goal.env_id,
        opened.steps + 1,
        statistics.median(limits),
        fps,
        fps / opened.fps,
        f"{share:.0%}",
        str(goal),
    )


@contextmanager
def plain_loop(env_id: str, steps: int) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", PLAIN_LOOP, env_id, str(steps)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as loop:
        yield loop
        loop.kill()


def run_plain_pass(loop: "subprocess.Popen[str]") -> float:
    """Return frames per second of a process that only steps and renders."""
    assert loop.stdin is not None
    assert loop.stdout is not None
    loop.stdin.write("go\n")
    loop.stdin.flush()
    return float(loop.stdout.readline())


def run_daemon_pass(simulation: Resimulation) -> float:
    """Return frames per second that a client receives."""
    request = simulation.request_frames(0)
    started_at, frames = 0.0, 0
    for message in simulation:
        if isinstance(message, SimulatedFrame):
            assert message.pixels()
            started_at = started_at or time.perf_counter()
            frames += 1
        elif isinstance(message, SimulationChecked):
            assert message.first_difference is None, message.difference
        elif message == FramesDone(request=request):
            break
    return (frames - 1) / (time.perf_counter() - started_at)


if __name__ == "__main__":
    main()
