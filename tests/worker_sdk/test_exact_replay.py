"""Recorded episodes replay exactly, in a new process, for an environment of every family."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "replay_exactness.py"
TIMEOUT_S = 150


@pytest.mark.parametrize(
    "env_id",
    [
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
    ],
)
def test_every_reward_and_end_is_the_same(env_id: str, tmp_path: Path) -> None:
    """Seeded and unseeded episodes, of single and of vector environments with autoreset."""
    options = ("--env", env_id, "--episodes", "5", "--python", sys.executable)
    result = subprocess.run(
        [sys.executable, str(BENCHMARK), *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    match = re.search(r"(\d+) of (\d+) episodes replay identically", result.stdout)
    assert match is not None
    assert match[1] == match[2]
    assert int(match[2]) >= 8
