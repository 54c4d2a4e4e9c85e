"""Steps/s and returns of PPO on CartPole-v1, against CleanRL's ppo.py and Stable-Baselines3.

    benchmarks/run cleanrl_ppo [--cleanrl CHECKOUT] [--sb3-python PATH] [--steps N] [--turns N]

The same hyperparameters (CleanRL's), one torch thread, each side a separate process; the sides
alternate with a new seed each, and ratios are medians over neighbouring rounds. CleanRL's script is
unmodified, from a checkout or from the package `cleanrl` of `--upstream-python`. The speed of both
is the last `SPS:` that they print. Stable-Baselines3 is included if `--sb3-python` has it; missing
peers are omitted.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from report import print_ratio, print_table

_ROOT = Path(__file__).parents[1]
_SOURCES = ("worker_sdk/src", "workers/cleanrl_worker/src")
_OURS, _CLEANRL, _SB3 = "ours", "CleanRL", "Stable-Baselines3"
_GOAL = "2 or more"
_RECENT = 100
_SPEED = re.compile(r"^SPS: (\d+)", re.MULTILINE)
_RETURN = re.compile(r"episodic_return=\[?\s*([-+.\deE]+)")
_IN_CHILD = "--in-child"


@dataclass
class Side:
    """One of the compared programs."""

    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    speeds: list[float] = field(default_factory=list)
    returns: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument(
        "--python", help="Python of the cleanrl_worker bundle. Default: installed on demand."
    )
    parser.add_argument("--cleanrl", type=Path, help="Checkout of CleanRL.")
    parser.add_argument("--upstream-python", help="Python that runs CleanRL's script.")
    parser.add_argument(
        "--sb3-python", help="Python with stable-baselines3.", default=sys.executable
    )
    parser.add_argument(_IN_CHILD, type=int, metavar="SEED", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_child is not None:
        train_with_sb3(options.steps, options.in_child)
        return
    sides = {
        name: side
        for name, side in (
            (_OURS, our_side(options.python)),
            (_CLEANRL, cleanrl_side(options.cleanrl, options.upstream_python)),
            (_SB3, sb3_side(options.sb3_python)),
        )
        if side is not None
    }
    for turn in range(options.turns):
        for name, side in sides.items():
            run_once(side, options.steps, seed=turn + 1)
            print(f"round {turn + 1}: {name} {side.speeds[-1]:,.0f} steps/s", flush=True)
    show(sides, options.steps)


def our_side(python: str | None) -> Side:
    path = os.pathsep.join(str(_ROOT / folder) for folder in _SOURCES)
    command = [python or _bundle("cleanrl_worker"), "-m", "cleanrl_worker.learners.ppo"]
    return Side([*command, "--learning-rate", "2.5e-4"], {"PYTHONPATH": path})


def cleanrl_side(checkout: Path | None, python: str | None) -> Side | None:
    """Return CleanRL's script; None if neither a checkout nor the package exists."""
    python = python or _bundle("cleanrl_upstream")
    if checkout is not None:
        script = checkout.resolve() / "cleanrl" / "ppo.py"
        return Side([python, str(script)], {"PYTHONPATH": str(checkout.resolve())})
    return Side([python, "-m", "cleanrl.ppo"]) if _has(python, "cleanrl.ppo") else None


def sb3_side(python: str) -> Side | None:
    return Side([python, __file__, _IN_CHILD]) if _has(python, "stable_baselines3") else None


def run_once(side: Side, steps: int, seed: int) -> None:
    is_child = side.command[-1] == _IN_CHILD
    flags = [str(seed)] if is_child else ["--seed", str(seed)]
    flags += ["--steps" if is_child else "--total-timesteps", str(steps)]
    before = _cpu_of_children()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "out").open("w+") as output:
        subprocess.run(
            [*side.command, *flags],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", **side.environment},
            stdout=output,
            check=True,
        )
        output.seek(0)
        printed = output.read()
    side.cpu_s.append(_cpu_of_children() - before)
    side.speeds.append(float(_SPEED.findall(printed)[-1]))
    side.returns.append(statistics.mean(map(float, _RETURN.findall(printed)[-_RECENT:])))


def train_with_sb3(steps: int, seed: int) -> None:
    """Run in a separate process: CleanRL's hyperparameters as arguments of Stable-Baselines3."""
    import time  # noqa: PLC0415

    import torch  # noqa: PLC0415 - not for the parent
    from stable_baselines3 import PPO  # noqa: PLC0415
    from stable_baselines3.common.env_util import make_vec_env  # noqa: PLC0415

    torch.set_num_threads(1)
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", n_envs=4, seed=seed),
        learning_rate=lambda left: 2.5e-4 * left,
        n_steps=128,
        batch_size=128,
        n_epochs=4,
        clip_range_vf=0.2,
        ent_coef=0.01,
        vf_coef=0.25,  # its value loss is not halved
        stats_window_size=_RECENT,
        seed=seed,
        device="cpu",
    )
    started_at = time.perf_counter()
    model.learn(steps // 512 * 512)
    for episode in model.ep_info_buffer or ():
        print(f"episodic_return={episode['r']}")
    print("SPS:", int(model.num_timesteps / (time.perf_counter() - started_at)))


def show(sides: dict[str, Side], steps: int) -> None:
    turns = len(sides[_OURS].speeds)
    print_table(
        f"ppo, CartPole-v1, {turns} turns of {steps:,} steps",
        ("", "steps/s", "CPU s, start included", f"mean of last {_RECENT} returns"),
        [
            (
                name,
                statistics.median(side.speeds),
                statistics.median(side.cpu_s),
                statistics.mean(side.returns),
            )
            for name, side in sides.items()
        ],
    )
    ours = sides.pop(_OURS)
    for name, side in sides.items():
        ratios = [one / other for one, other in zip(ours.speeds, side.speeds, strict=True)]
        print_ratio(f"steps/s against {name}", statistics.median(ratios), _GOAL)


def _bundle(name: str) -> str:
    from cached_bundles import bundle_python  # noqa: PLC0415 - not where paths are given

    return str(bundle_python(name))


def _has(python: str, module: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
