"""A PPO loop in CleanRL's style, for `minimal_telemetry`, in the Python of a bundle.

minimal_telemetry_child.py ENV STEPS TURNS      telemetry on stdout, seconds on stderr
"""

import json
import os
import sys
import time
from typing import Any

import gymnasium
import gymnasium.vector
import numpy as np
import torch
from torch import nn

from cleanrl_worker.upstream.instrumented import EnvInstrumentation
from mosaic_worker.emitter import Emitter
from mosaic_worker.recording.recorder import EpisodeRecorder
from mosaic_worker.standard_streams import claim_stdout

_NUM_ENVS = 4
_EPOCHS = 4
_MINIBATCHES = 4


class Agent:
    """Two small networks, as for CartPole."""

    def __init__(self, observations: int, actions: int) -> None:
        self.critic = _layers(observations, 1)
        self.actor = _layers(observations, actions)

    def parameters(self) -> list[Any]:
        return [*self.critic.parameters(), *self.actor.parameters()]

    def act(self, obs: Any, action: Any = None) -> Any:
        policy: Any = torch.distributions.Categorical(logits=self.actor(obs))
        action = policy.sample() if action is None else action
        return action, policy.log_prob(action), policy.entropy(), self.critic(obs).flatten()


def _layers(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


class Training:
    """One training: environments, and rounds of a rollout and an update."""

    def __init__(self, env_id: str, steps: int) -> None:
        self.envs = _make_vector(env_id)
        inputs = int(np.prod(self.envs.single_observation_space.shape))
        self.agent = Agent(inputs, int(self.envs.single_action_space.n))
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=2.5e-4, eps=1e-5)
        self.steps = steps
        self.obs = torch.Tensor(self.envs.reset(seed=1)[0])

    def turn(self) -> None:
        rows: list[tuple[Any, ...]] = []
        for _ in range(self.steps):
            with torch.no_grad():
                action, log_prob, _, value = self.agent.act(self.obs)
            next_obs, reward, terminated, truncated, _ = self.envs.step(action.numpy())
            over = torch.Tensor(np.logical_or(terminated, truncated))
            rows.append((self.obs, action, log_prob, value, torch.Tensor(reward), over))
            self.obs = torch.Tensor(next_obs)
        self._update(rows)

    def _update(self, rows: list[tuple[Any, ...]]) -> None:
        obs, action, log_prob, value, reward, over = map(torch.stack, zip(*rows, strict=True))
        returns = torch.zeros_like(reward)
        follows = value[-1]
        for index in reversed(range(len(rows))):
            follows = reward[index] + 0.99 * follows * (1 - over[index])
            returns[index] = follows
        gained = (returns - value).flatten()
        batch = len(rows) * _NUM_ENVS
        flat = (
            obs.reshape(batch, -1),
            action.flatten(),
            log_prob.flatten(),
            returns.flatten(),
            gained,
        )
        for _ in range(_EPOCHS):
            for chosen in np.array_split(np.random.permutation(batch), _MINIBATCHES):
                self._learn([tensor[chosen] for tensor in flat])

    def _learn(self, batch: list[Any]) -> None:
        obs, action, log_prob, returns, gained = batch
        _, new_log_prob, entropy, value = self.agent.act(obs, action)
        ratio = (new_log_prob - log_prob).exp()
        gained = (gained - gained.mean()) / (gained.std() + 1e-8)
        policy_loss = torch.max(-gained * ratio, -gained * ratio.clamp(0.8, 1.2)).mean()
        loss = policy_loss - 0.01 * entropy.mean() + 0.5 * (value - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), 0.5)
        self.optimizer.step()


def _make_vector(env_id: str) -> Any:
    return gymnasium.vector.SyncVectorEnv([lambda: _make(env_id)] * _NUM_ENVS)


def _make(env_id: str) -> Any:
    return gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(env_id))


def main() -> None:
    env_id, steps, turns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    spool = claim_stdout()
    torch.set_num_threads(1)
    plain = Training(env_id, steps)
    recorder = EpisodeRecorder(Emitter(fd=spool), detail="columns")
    EnvInstrumentation(recorder, None).install(gymnasium)
    recorded = Training(env_id, steps)
    seconds: dict[str, list[float]] = {"plain": [], "recorded": []}
    for turn in range(turns + 2):
        os.ftruncate(spool, 0)
        for name, training in (("plain", plain), ("recorded", recorded)):
            start = time.perf_counter()
            training.turn()
            if turn >= 2:  # the first ones warm up
                seconds[name].append(time.perf_counter() - start)
    result = {"gymnasium": gymnasium.__version__, **seconds}
    sys.stderr.write(f"\n{json.dumps(result)}\n")


if __name__ == "__main__":
    main()
