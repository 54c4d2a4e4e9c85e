"""A worker that emits recorded CartPole episodes, so that a real daemon can replay them."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium

from tests.trainer.workers.worker_files import write_worker

WORKER = "recorded_worker"
ENV_ID = "CartPole-v1"
CHANGED_STEP = 5

_MAIN = f"""
import json, sys
from pathlib import Path

if "--describe" in sys.argv:
    algorithms = [{{"id": "recorded", "label": "Recorded"}}]
    descriptor = {{"worker": "{WORKER}", "version": "1.0", "modes": ["train"]}}
    print(json.dumps({{**descriptor, "algorithms": algorithms}}))
else:
    sys.stdout.write(Path(__file__).with_name("lines.jsonl").read_text())
"""


def install_recorded_worker(folder: Path, settings: Path, *, bundle: str | None = None) -> None:
    """Install the worker below `folder`, where the daemon finds it.

    Without a bundle it runs in the Python of the daemon, which has the environments. Its episodes:
    0 as recorded, 1 with a wrong reward, 2 without its start, 3 as columns on one line.
    """
    package = write_worker(folder, WORKER, main=_MAIN, bundle=bundle, python=">=3.10")
    (package / "lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines()))
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"worker_folders = [{json.dumps(str(folder))}]\n")


def lines() -> Iterator[dict[str, Any]]:
    """All lines that the worker writes."""
    yield {"type": "hello", "v": 1, "worker": WORKER}
    yield {
        "type": "environment",
        "env_id": ENV_ID,
        "env_kwargs": {},
        "max_episode_steps": 500,
        "action_space": {"type": "discrete", "n": 2, "start": 0},
        "render_fps": 50,
    }
    for number in range(3):
        yield from _steps_of(number)
    yield {
        **_play_episode(3)[1],
        "seed": 3,
        "actions": _actions(3),
        "rewards": [1.0] * len(_actions(3)),
    }
    yield {"type": "bye", "outcome": "succeeded"}


def _steps_of(number: int) -> Iterator[dict[str, Any]]:
    start = {"type": "episode_start", "episode_id": f"e{number}", "episode": number}
    yield start if number == 2 else {**start, "seed": number}
    steps, end = _play_episode(number)
    if number == 1:
        steps[CHANGED_STEP]["reward"] = 7.0
    yield from steps
    yield end


def _actions(number: int) -> list[int]:
    return [step["action"] for step in _play_episode(number)[0]]


def _play_episode(number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The `step` lines and the `episode` line of a real episode."""
    env = gymnasium.make(ENV_ID)
    env.reset(seed=number)
    rng = random.Random(number)
    steps: list[dict[str, Any]] = []
    is_done = False
    while not is_done:
        action = rng.randrange(2)
        _, reward, terminated, truncated, _ = env.step(action)
        is_done = terminated or truncated
        steps.append(
            {
                "type": "step",
                "episode_id": f"e{number}",
                "step": len(steps),
                "action": action,
                "reward": float(reward),
                "terminated": terminated,
                "truncated": truncated,
            }
        )
    env.close()
    end = {
        "type": "episode",
        "episode_id": f"e{number}",
        "episode": number,
        "steps": len(steps),
        "return": float(len(steps)),
        "terminated": True,
        "truncated": False,
    }
    return steps, end
