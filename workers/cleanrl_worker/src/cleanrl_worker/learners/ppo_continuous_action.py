"""PPO for continuous actions: each part of an action is drawn around a mean that the actor chooses.

The deviation is learnt, and the same in every state. Observations and rewards are brought to a
common scale, without which networks learn little from angles and forces.

Schulman et al., "Proximal Policy Optimization Algorithms", 2017; Huang et al., "The 37
Implementation Details of Proximal Policy Optimization", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.environments.making import one_array
from cleanrl_worker.learning.common_scale import CommonScale, observation_scaling
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.gaussian import (
    entropy_of,
    log_probabilities,
    log_probabilities_of_noise,
    normal_noise,
)
from cleanrl_worker.learning.layers import tanh_mlp
from cleanrl_worker.learning.numpy_mlp import NumpyMlp
from cleanrl_worker.learning.rollout import Rollout
from cleanrl_worker.learning.rollout_size import fit_rollout
from cleanrl_worker.learning.update_figures import UpdateFigures, standardised
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

    Shaken = Callable[[torch.Tensor], torch.Tensor]

LABEL = "PPO, continuous actions"
ACTION_SPACES = ("box",)
LARGE_NETWORK = False
RECOMMENDED = {
    "classic-control": {
        "total_timesteps": 300_000,
        "num_envs": 4,
        "num_steps": 1024,
        "learning_rate": 1e-3,
        "gamma": 0.9,
    },
    "box2d": {"total_timesteps": 2_000_000, "num_envs": 4, "num_steps": 1024},
    "mujoco": {"total_timesteps": 1_000_000, "num_envs": 1, "num_steps": 2048},
}


@dataclass
class Args(SharedArgs):
    """Flags of PPO for continuous actions."""

    env_id: str = "HalfCheetah-v5"
    """the id of the environment"""
    total_timesteps: int = 1_000_000
    """steps of the experiment, over all environments"""
    learning_rate: float = 3e-4
    """how far a step of the optimizer goes"""
    num_steps: int = 2048
    """steps of each environment between two updates"""
    anneal_lr: bool = True
    """lower the learning rate to 0 over the experiment"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    gae_lambda: float = 0.95
    """how far advantages look at rewards (1) rather than at values (0)"""
    num_minibatches: int = 32
    """parts that each pass over the steps is divided into"""
    update_epochs: int = 10
    """passes over the steps of an update"""
    norm_adv: bool = True
    """scale the advantages of each minibatch to mean 0 and deviation 1"""
    clip_coef: float = 0.2
    """how far an action's probability may be moved by an update"""
    clip_vloss: bool = True
    """keep the values near what they were, too"""
    ent_coef: float = 0.0
    """the weight of the entropy, which keeps the policy trying"""
    vf_coef: float = 0.5
    """the weight of the value loss"""
    max_grad_norm: float = 0.5
    """the largest length of the gradient"""
    target_kl: float | None = None
    """end an update once the policy has moved this far"""


wrap = wrap_for_playing = one_array


class Agent(nn.Module):
    """An actor and a critic that share nothing; knows the bounds of the actions."""

    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, observation_size: int, low: Any, high: Any) -> None:
        super().__init__()
        self.critic = tanh_mlp(observation_size, 1)
        self.actor_mean = tanh_mlp(observation_size, low.size, gain=0.01)
        self.actor_logstd = nn.Parameter(torch.zeros(low.size))
        # What has no bound gets the largest number: infinity marks a broken checkpoint.
        for name, bound in (("low", low), ("high", high)):
            finite = np.nan_to_num(bound.reshape(-1).astype(np.float32))
            self.register_buffer(name, torch.from_numpy(finite))


def as_they_are(means: torch.Tensor) -> torch.Tensor:
    return means


def train(args: Args, session: Session, shaken: Shaken = as_they_are) -> None:
    """`shaken` is what RPO does to the means that are learnt from."""
    envs = session.make_envs(wrap)
    session.require_actions(envs, "box")
    fit_rollout(args, session)
    observation_shape = envs.single_observation_space.shape
    actions = envs.single_action_space
    agent = Agent(observation_shape[0], actions.low, actions.high).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    optimizer = FlatAdam(
        agent.parameters(), args.learning_rate, eps=1e-5, max_grad_norm=args.max_grad_norm
    )
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
    scale = CommonScale(session, args.num_envs, observation_shape, args.gamma)
    actor = NumpyMlp(agent.actor_mean)
    rollout = Rollout(
        args.num_steps,
        args.num_envs,
        observation=(observation_shape, np.float32),
        action=((actions.low.size,), np.float32),
    )
    batch_size = args.num_steps * args.num_envs
    iterations = max(1, args.total_timesteps // batch_size)

    def state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "normalization": scale.normalization(),
            "training": {"optimizer": optimizer.state_dict(), "rewards": scale.training()},
        }

    # The last thing before the loop: of a resumed training it also brings random numbers back.
    rollout.observations[-1] = scale.first(session.first_observations(envs))
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        if args.anneal_lr:
            optimizer.lr = args.learning_rate * (1.0 - iteration / iterations)
        actor.refresh()
        log_probs = collect(rollout, agent, actor, scale, envs, session, step)
        step += batch_size
        losses = update(args, agent, optimizer, rollout, log_probs, scale, shaken)
        told = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.scalars({**told, **losses}, step)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def collect(
    rollout: Rollout,
    agent: Agent,
    actor: NumpyMlp,
    scale: CommonScale,
    envs: SameStepVector,
    session: Session,
    step: int,
) -> Any:
    """Fill the rollout with the actor's steps; returns the log-probabilities of its actions."""
    observations = rollout.observations
    observations[0] = observations[-1]
    low, high = agent.low.cpu().numpy(), agent.high.cpu().numpy()
    shape = (envs.num_envs, *envs.single_action_space.shape)
    log_std = agent.actor_logstd.detach().cpu().numpy()
    noise = normal_noise(*rollout.actions.shape)
    deviations = np.exp(log_std) * noise
    for t in range(len(noise)):
        # Learnt from as drawn, and carried out within the bounds.
        rollout.actions[t] = drawn = actor(observations[t]) + deviations[t]
        given = np.clip(drawn, low, high).reshape(shape)
        raw, rewards, terminated, truncated, infos = envs.step(given)
        step += envs.num_envs
        observations[t + 1] = scale.observations.learn(raw)
        rewards = scale.rewards.learn(rewards, terminated | truncated)
        rollout.add(t, rewards, terminated, truncated, infos)
        session.episodes(infos, terminated, truncated, step)
    return log_probabilities_of_noise(noise, log_std)


def update(
    args: Args,
    agent: Agent,
    optimizer: FlatAdam,
    rollout: Rollout,
    log_probs: Any,
    scale: CommonScale,
    shaken: Shaken,
) -> dict[str, float]:
    """Learn from the rollout; returns what is to be told."""
    device = optimizer.flat.device

    def tensor(array: Any) -> torch.Tensor:
        """All steps of all environments in one row."""
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])).to(device)

    def value_of(observations: Any) -> Any:
        with torch.no_grad():
            values = agent.critic(torch.from_numpy(observations).to(device))
        return values[:, 0].cpu().numpy()

    advantages, returns, values = rollout.judge(
        value_of, gamma=args.gamma, gae_lambda=args.gae_lambda, present=scale.observations.scale
    )
    arrays = (rollout.observations[:-1], rollout.actions, log_probs, advantages, returns, values)
    batch = [tensor(array) for array in arrays]
    figures = UpdateFigures(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        order = torch.from_numpy(np.random.permutation(rollout.rewards.size)).to(device)
        # Shuffled as a whole: the minibatches are slices.
        parts = (each[order].tensor_split(args.num_minibatches) for each in batch)
        for part in zip(*parts, strict=True):
            observations, actions, old_log_probs, gains, expected, old_values = part
            advantage = standardised(gains) if args.norm_adv else gains
            mean = shaken(agent.actor_mean(observations))
            log_ratio = log_probabilities(actions, mean, agent.actor_logstd) - old_log_probs
            ratio = log_ratio.exp()
            policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(low, high)).mean()

            new_values = agent.critic(observations)[:, 0]
            errors = (new_values - expected).square()
            if args.clip_vloss:
                moved = (new_values - old_values).clamp(-args.clip_coef, args.clip_coef)
                errors = torch.max(errors, (old_values + moved - expected).square())
            value_loss = 0.5 * errors.mean()

            entropy = entropy_of(agent.actor_logstd)
            optimizer.minimise(policy_loss - args.ent_coef * entropy + args.vf_coef * value_loss)
            figures.note(log_ratio, policy_loss, value_loss, entropy)
        if figures.moved_further_than(args.target_kl):
            break
    return figures.told(values, returns)


class _Policy:
    def __init__(self, agent: Agent, checkpoint: Checkpoint, *, sampled: bool) -> None:
        self._actor = NumpyMlp(agent.actor_mean)
        self._scaling = observation_scaling(checkpoint)
        self._low, self._high = agent.low.numpy(), agent.high.numpy()
        self._deviation = agent.actor_logstd.detach().exp().numpy() if sampled else 0.0
        self._shape = tuple(checkpoint.action_space["shape"])

    def act(self, observation: Any) -> Any:
        mean = self._actor(self._scaling.scale(np.asarray(observation)))
        drawn = mean + self._deviation * normal_noise(*mean.shape)
        return np.clip(drawn, self._low, self._high).reshape(self._shape)


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    tensors = checkpoint.policy
    agent = Agent(
        tensors["actor_mean.0.weight"].shape[1], tensors["low"].numpy(), tensors["high"].numpy()
    )
    agent.load_state_dict(tensors)
    return _Policy(agent, checkpoint, sampled=sampled)


if __name__ == "__main__":
    run_script(Args, train)
