"""PPO: on-policy actor-critic with a clipped surrogate objective.

Each rollout is used for several epochs of minibatch updates. Clipping removes the incentive to move
the probability ratio outside of [1 - `clip_coef`, 1 + `clip_coef`]. For discrete actions and flat
observations.

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
from cleanrl_worker.common.distributions import categorical_log_prob, gumbel_noise
from cleanrl_worker.common.flat_adam import FlatAdam
from cleanrl_worker.common.networks import tanh_mlp
from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.common.rollout import Rollout, validate_rollout_size
from cleanrl_worker.common.update_metrics import UpdateMetrics, normalize_advantages
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

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
    """Number of parallel environments."""
    learning_rate: float = 1e-3
    """Learning rate of the optimizer."""
    num_steps: int = 128
    """Steps of each environment per rollout."""
    anneal_lr: bool = True
    """Anneal the learning rate linearly to 0."""
    gamma: float = 0.99
    """Discount factor gamma."""
    gae_lambda: float = 0.95
    """GAE lambda: 0 uses values only, 1 uses rewards only."""
    num_minibatches: int = 4
    """Number of minibatches per epoch."""
    update_epochs: int = 4
    """Epochs per update."""
    norm_adv: bool = True
    """Normalize the advantages of each minibatch."""
    clip_coef: float = 0.2
    """Clipping coefficient of the surrogate objective."""
    clip_vloss: bool = True
    """Clip the value loss as well."""
    ent_coef: float = 0.01
    """Coefficient of the entropy bonus."""
    vf_coef: float = 0.5
    """Coefficient of the value loss."""
    max_grad_norm: float = 0.5
    """Maximum gradient norm."""
    target_kl: float | None = None
    """KL divergence that stops an update early."""


wrap = wrap_for_playing = flatten_observation


class Agent(nn.Module):
    """Separate actor and critic networks."""

    def __init__(self, observation_size: int, num_actions: int) -> None:
        super().__init__()
        self.critic = tanh_mlp(observation_size, 1)
        self.actor = tanh_mlp(observation_size, num_actions, std=0.01)


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "discrete")
    validate_rollout_size(args, session)
    observation_size = int(envs.single_observation_space.shape[0])
    num_actions = int(envs.single_action_space.n)
    agent = Agent(observation_size, num_actions).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
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
    logits = np.zeros((args.num_steps, args.num_envs, num_actions), np.float32)
    batch_size = args.num_steps * args.num_envs
    iterations = max(1, args.total_timesteps // batch_size)

    def get_state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {"optimizer": optimizer.state_dict()},
        }

    # Must be last: it also restores the random state of a resumed training.
    rollout.observations[-1] = session.initial_observations(envs)
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        if args.anneal_lr:
            optimizer.lr = args.learning_rate * (1.0 - iteration / iterations)
        actor.refresh()
        collect(rollout, logits, actor, envs, session, step)
        step += batch_size
        losses = update(args, agent, optimizer, rollout, logits)
        charts = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.log_scalars({**charts, **losses}, step)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def collect(
    rollout: Rollout,
    logits: Any,
    actor: NumpyMlp,
    envs: SameStepVector,
    session: TrainingSession,
    step: int,
) -> None:
    """Fill the rollout with the actor's steps, and `logits` with its outputs."""
    observations = rollout.observations
    observations[0] = observations[-1]
    noise = gumbel_noise(*logits.shape)
    for t in range(len(logits)):
        logits[t] = actor(observations[t])
        rollout.actions[t] = actions = (logits[t] + noise[t]).argmax(axis=-1)
        observations[t + 1], rewards, terminated, truncated, infos = envs.step(actions)
        step += envs.num_envs
        rollout.add(t, rewards, terminated, truncated, infos)
        session.log_episodes(infos, terminated, truncated, step)


def update(
    args: Args, agent: Agent, optimizer: FlatAdam, rollout: Rollout, logits: Any
) -> dict[str, float]:
    """Optimize the policy with the rollout; returns metrics."""
    device = optimizer.flat.device

    def tensor(array: Any) -> torch.Tensor:
        """Flatten the steps of all environments."""
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])).to(device)

    def get_value(observations: Any) -> Any:
        with torch.no_grad():
            values = agent.critic(torch.from_numpy(observations).to(device))
        return values[:, 0].cpu().numpy()

    advantages, returns, values = rollout.compute_gae(
        get_value, gamma=args.gamma, gae_lambda=args.gae_lambda
    )
    batch = (
        tensor(rollout.observations[:-1]),
        tensor(rollout.actions[..., None]),
        tensor(categorical_log_prob(logits, rollout.actions)),
        tensor(advantages),
        tensor(returns),
        tensor(values),
    )
    metrics = UpdateMetrics(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        permutation = torch.from_numpy(np.random.permutation(rollout.rewards.size)).to(device)
        # Shuffle everything at once: then the minibatches are slices.
        slices = (array[permutation].tensor_split(args.num_minibatches) for array in batch)
        for minibatch in zip(*slices, strict=True):
            mb_obs, mb_actions, mb_logprobs, mb_advantages, mb_returns, mb_values = minibatch
            if args.norm_adv:
                mb_advantages = normalize_advantages(mb_advantages)
            log_probs = agent.actor(mb_obs).log_softmax(dim=1)
            logratio = log_probs.gather(1, mb_actions)[:, 0] - mb_logprobs
            ratio = logratio.exp()
            pg_loss = -torch.min(
                mb_advantages * ratio, mb_advantages * ratio.clamp(low, high)
            ).mean()

            newvalue = agent.critic(mb_obs)[:, 0]
            v_loss = (newvalue - mb_returns).square()
            if args.clip_vloss:
                v_clipped = mb_values + (newvalue - mb_values).clamp(
                    -args.clip_coef, args.clip_coef
                )
                v_loss = torch.max(v_loss, (v_clipped - mb_returns).square())
            v_loss = 0.5 * v_loss.mean()

            entropy = -(log_probs.exp() * log_probs).sum(dim=1).mean()
            loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
            optimizer.minimize(loss)
            metrics.record(logratio, pg_loss, v_loss, entropy)
        if metrics.exceeds_kl(args.target_kl):
            break
    return metrics.as_scalars(values, returns)


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self._actor = NumpyMlp(agent.actor)
        self._sampled = sampled

    def act(self, observation: Any) -> Any:
        logits = self._actor(np.asarray(observation, dtype=np.float32))
        noise = gumbel_noise(*logits.shape) if self._sampled else 0.0
        return int(np.argmax(logits + noise))

    def best_actions(self, observations: Any) -> Any:
        """Return the most likely action of each float32 row."""
        return self._actor(observations).argmax(axis=1)


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    tensors = checkpoint.policy
    agent = Agent(tensors["actor.0.weight"].shape[1], tensors["actor.4.weight"].shape[0])
    agent.load_state_dict(tensors)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_as_script(Args, train)
