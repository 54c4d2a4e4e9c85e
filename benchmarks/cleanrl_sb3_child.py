"""Trains with Stable-Baselines3 and prints CleanRL's lines; started by `cleanrl_peers`.

The argument is a JSON object: algo, env_id, steps, seed and settings. Of the settings, `net_arch`
and `activation` describe the network, and `action_noise` is a standard deviation relative to half
the range.
"""

import json
import sys
import time

import gymnasium as gym
import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.noise import NormalActionNoise


class _Lines(BaseCallback):  # type: ignore[misc] # untyped where it is not installed
    """One per episode, as CleanRL's scripts have it."""

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                line = f"global_step={self.num_timesteps}, episodic_return={info['episode']['r']}"
                print(line, flush=True)
        return True


def main() -> None:
    order = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    settings = dict(order["settings"])
    network = {
        "net_arch": settings.pop("net_arch"),
        "activation_fn": getattr(torch.nn, settings.pop("activation")),
    }
    envs = make_vec_env(
        lambda: gym.make(order["env_id"]), n_envs=settings.pop("n_envs", 1), seed=order["seed"]
    )
    if "action_noise" in settings:
        deviation = np.full(envs.action_space.shape, settings["action_noise"])
        settings["action_noise"] = NormalActionNoise(np.zeros_like(deviation), deviation)
    algorithm = getattr(stable_baselines3, order["algo"])
    model = algorithm(
        "MlpPolicy", envs, seed=order["seed"], policy_kwargs=network, device="cpu", **settings
    )
    started = time.monotonic()
    model.learn(order["steps"], callback=_Lines())
    print("SPS:", int(order["steps"] / (time.monotonic() - started)), flush=True)


if __name__ == "__main__":
    main()
