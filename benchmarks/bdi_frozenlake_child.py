"""The plain loop that `bdi_frozenlake` compares with: Q-learning in gymnasium without telemetry.

    python bdi_frozenlake_child.py EPISODES IS_SLIPPERY

Run by the Python of the worker's bundle; prints the seconds it took.
"""

import random
import sys
import time
from typing import Any

import gymnasium


def learn(env: Any, episodes: int, chance: random.Random) -> None:
    """Textbook Q-learning with the worker's hyperparameters."""
    actions = int(env.action_space.n)
    table = [[0.0] * actions for _ in range(env.observation_space.n)]
    env.reset(seed=1)
    for episode in range(episodes):
        epsilon = max(0.02, 1 - episode / (0.5 * episodes))
        state, _ = env.reset()
        is_over = False
        while not is_over:
            row = table[state]
            if chance.random() < epsilon:
                action = chance.randrange(actions)
            else:
                best = max(row)
                action = chance.choice([choice for choice in range(actions) if row[choice] == best])
            following, reward, terminated, truncated, _ = env.step(action)
            target = reward if terminated else reward + 0.99 * max(table[following])
            row[action] += 0.5 * (target - row[action])
            state, is_over = following, terminated or truncated


def main() -> None:
    episodes, is_slippery = int(sys.argv[1]), sys.argv[2] == "True"
    env = gymnasium.make("FrozenLake-v1", is_slippery=is_slippery)
    started_at = time.perf_counter()
    learn(env, episodes, random.Random(1))
    print(time.perf_counter() - started_at)


if __name__ == "__main__":
    main()
