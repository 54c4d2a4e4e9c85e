"""PPO: learn from a few steps of several environments, then never step far from what acted.

An actor chooses actions and a critic tells what return to expect. What was collected is learnt from
several times over, and the clipped objective takes away the reward for moving an action's
probability further than `clip_coef` from what it was. For discrete actions and flat observations.

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
from cleanrl_worker.learning.categorical import gumbel_noise, log_probabilities
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.layers import tanh_mlp
from cleanrl_worker.learning.numpy_mlp import NumpyMlp
from cleanrl_worker.learning.rollout import Rollout
from cleanrl_worker.learning.rollout_size import fit_rollout
from cleanrl_worker.learning.update_figures import UpdateFigures, standardised
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "PPO"
ACTION_SPACES = ("discrete",)
LARGE_NETWORK = False
RECOMMENDED = {
    "toy-text": {"total_timesteps": 500_000, "num_envs": 8, "ent_coef": 0.02},
    "classic-control": {"total_timesteps": 300_000, "num_envs": 4, "learning_rate": 1e-3},
    "box2d": {
        "total_timesteps": 1_000_000,
        "num_envs": 16,
        "num_steps": 512,
        "num_minibatches": 32,
        "learning_rate": 3e-4,
        "gamma": 0.999,
        "gae_lambda": 0.98,
    },
    "minigrid": {
        "total_timesteps": 1_000_000,
        "num_envs": 8,
        "num_minibatches": 8,
        "learning_rate": 2.5e-4,
    },
}


@dataclass
class Args(SharedArgs):
    """Flags of PPO."""

    num_envs: int = 4
    """environments that are stepped together"""
    learning_rate: float = 1e-3
    """how far a step of the optimizer goes"""
    num_steps: int = 128
    """steps of each environment between two updates"""
    anneal_lr: bool = True
    """lower the learning rate to 0 over the experiment"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    gae_lambda: float = 0.95
    """how far advantages look at rewards (1) rather than at values (0)"""
    num_minibatches: int = 4
    """parts that each pass over the steps is divided into"""
    update_epochs: int = 4
    """passes over the steps of an update"""
    norm_adv: bool = True
    """scale the advantages of each minibatch to mean 0 and deviation 1"""
    clip_coef: float = 0.2
    """how far an action's probability may be moved by an update"""
    clip_vloss: bool = True
    """keep the values near what they were, too"""
    ent_coef: float = 0.01
    """the weight of the entropy, which keeps the policy trying"""
    vf_coef: float = 0.5
    """the weight of the value loss"""
    max_grad_norm: float = 0.5
    """the largest length of the gradient"""
    target_kl: float | None = None
    """end an update once the policy has moved this far"""


wrap = wrap_for_playing = one_array


class Agent(nn.Module):
    """An actor and a critic that share nothing."""

    def __init__(self, observation_size: int, actions: int) -> None:
        super().__init__()
        self.critic = tanh_mlp(observation_size, 1)
        self.actor = tanh_mlp(observation_size, actions, gain=0.01)


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "discrete")
    fit_rollout(args, session)
    observation_size = int(envs.single_observation_space.shape[0])
    actions = int(envs.single_action_space.n)
    agent = Agent(observation_size, actions).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    optimizer = FlatAdam(
        agent.parameters(), args.learning_rate, eps=1e-5, max_grad_norm=args.max_grad_norm
    )
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
    actor = NumpyMlp(agent.actor)
    rollout = Rollout(
        args.num_steps,
        args.num_envs,
        observation=((observation_size,), np.float32),
        action=((), np.int64),
    )
    logits = np.zeros((args.num_steps, args.num_envs, actions), np.float32)
    batch_size = args.num_steps * args.num_envs
    iterations = max(1, args.total_timesteps // batch_size)

    def state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {"optimizer": optimizer.state_dict()},
        }

    # The last thing before the loop: of a resumed training it also brings random numbers back.
    rollout.observations[-1] = session.first_observations(envs)
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        if args.anneal_lr:
            optimizer.lr = args.learning_rate * (1.0 - iteration / iterations)
        actor.refresh()
        collect(rollout, logits, actor, envs, session, step)
        step += batch_size
        losses = update(args, agent, optimizer, rollout, logits)
        told = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.scalars({**told, **losses}, step)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def collect(
    rollout: Rollout,
    logits: Any,
    actor: NumpyMlp,
    envs: SameStepVector,
    session: Session,
    step: int,
) -> None:
    """Fill the rollout with the actor's steps; `logits` are what it chose by."""
    observations = rollout.observations
    observations[0] = observations[-1]
    noise = gumbel_noise(*logits.shape)
    for t in range(len(logits)):
        logits[t] = actor(observations[t])
        rollout.actions[t] = chosen = (logits[t] + noise[t]).argmax(axis=-1)
        observations[t + 1], rewards, terminated, truncated, infos = envs.step(chosen)
        step += envs.num_envs
        rollout.add(t, rewards, terminated, truncated, infos)
        session.episodes(infos, terminated, truncated, step)


def update(
    args: Args, agent: Agent, optimizer: FlatAdam, rollout: Rollout, logits: Any
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
        value_of, gamma=args.gamma, gae_lambda=args.gae_lambda
    )
    batch = (
        tensor(rollout.observations[:-1]),
        tensor(rollout.actions[..., None]),
        tensor(log_probabilities(logits, rollout.actions)),
        tensor(advantages),
        tensor(returns),
        tensor(values),
    )
    figures = UpdateFigures(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        order = torch.from_numpy(np.random.permutation(rollout.rewards.size)).to(device)
        # Shuffled as a whole: the minibatches are slices.
        parts = (each[order].tensor_split(args.num_minibatches) for each in batch)
        for part in zip(*parts, strict=True):
            observations, actions, old_log_probs, gains, expected, old_values = part
            advantage = standardised(gains) if args.norm_adv else gains
            log_probs = agent.actor(observations).log_softmax(dim=1)
            log_ratio = log_probs.gather(1, actions)[:, 0] - old_log_probs
            ratio = log_ratio.exp()
            policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(low, high)).mean()

            new_values = agent.critic(observations)[:, 0]
            errors = (new_values - expected).square()
            if args.clip_vloss:
                moved = (new_values - old_values).clamp(-args.clip_coef, args.clip_coef)
                errors = torch.max(errors, (old_values + moved - expected).square())
            value_loss = 0.5 * errors.mean()

            entropy = -(log_probs.exp() * log_probs).sum(dim=1).mean()
            optimizer.minimise(policy_loss - args.ent_coef * entropy + args.vf_coef * value_loss)
            figures.note(log_ratio, policy_loss, value_loss, entropy)
        if figures.moved_further_than(args.target_kl):
            break
    return figures.told(values, returns)


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self._actor = NumpyMlp(agent.actor)
        self._sampled = sampled

    def act(self, observation: Any) -> Any:
        logits = self._actor(np.asarray(observation, dtype=np.float32))
        noise = gumbel_noise(*logits.shape) if self._sampled else 0.0
        return int(np.argmax(logits + noise))

    def best_actions(self, observations: Any) -> Any:
        """Of each row of float32, the most likely."""
        return self._actor(observations).argmax(axis=1)


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    tensors = checkpoint.policy
    agent = Agent(tensors["actor.0.weight"].shape[1], tensors["actor.4.weight"].shape[0])
    agent.load_state_dict(tensors)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_script(Args, train)
