"""PPO for Atari: on-policy actor-critic with a shared convolutional network.

The algorithm of `ppo.py`, with four stacked frames as observation.

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
from cleanrl_worker.common.networks import FEATURES, layer_init, nature_features
from cleanrl_worker.common.rollout import Rollout, validate_rollout_size
from cleanrl_worker.common.update_metrics import UpdateMetrics, normalize_advantages
from cleanrl_worker.environments import atari
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

LABEL = "PPO for Atari"
ACTION_SPACES = ("discrete",)
FAMILIES = ("atari",)
LARGE_NETWORK = True
RECOMMENDED = {
    "atari": {"total_timesteps": 10_000_000, "num_envs": 8, "num_steps": 128, "clip_coef": 0.1}
}


@dataclass
class Args(SharedArgs):
    """Flags of PPO for Atari."""

    env_id: str = "BreakoutNoFrameskip-v4"
    """Id of the environment."""
    total_timesteps: int = 10_000_000
    """Total timesteps of the experiment, over all environments."""
    num_envs: int = 8
    """Number of parallel environments."""
    learning_rate: float = 2.5e-4
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
    clip_coef: float = 0.1
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


wrap = atari.wrap_for_training
wrap_for_playing = atari.wrap_for_playing


class Agent(nn.Module):
    """Actor and critic heads on a shared convolutional network."""

    def __init__(self, num_actions: int) -> None:
        super().__init__()
        self.network = nature_features(atari.STACKED_FRAMES)
        self.actor = layer_init(nn.Linear(FEATURES, num_actions), 0.01)
        self.critic = layer_init(nn.Linear(FEATURES, 1), 1.0)

    def forward(self, frames: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits [rows, actions] and the values [rows]."""
        features = self.network(frames)
        return self.actor(features), self.critic(features)[:, 0]

    @torch.no_grad()
    def predict(self, frames: Any) -> tuple[Any, Any]:
        """Return the logits and the values as arrays, without gradients."""
        logits, values = self(torch.from_numpy(frames).to(self.critic.weight.device))
        return logits.cpu().numpy(), values.cpu().numpy()


def train(args: Args, session: TrainingSession) -> None:
    # A lost life ends an episode for the learner; reports are about complete games.
    default_kwargs = atari.make_kwargs(args.env_id)
    envs = session.make_envs(wrap, default_kwargs=default_kwargs, reports_every_end=False)
    session.require_action_space(envs, "discrete")
    validate_rollout_size(args, session)
    num_actions = int(envs.single_action_space.n)
    agent = Agent(num_actions).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    optimizer = FlatAdam(
        agent.parameters(), args.learning_rate, eps=1e-5, max_grad_norm=args.max_grad_norm
    )
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
    rollout = Rollout(
        args.num_steps,
        args.num_envs,
        observation=(envs.single_observation_space.shape, np.uint8),
        action=((), np.int64),
    )
    logits = np.zeros((args.num_steps, args.num_envs, num_actions), np.float32)
    values = np.zeros((args.num_steps + 1, args.num_envs), np.float32)
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
        snapshot = session.snapshot(step)
        if not collect(rollout, logits, values, agent, envs, session, step):
            session.finish(step, get_state, snapshot)
            return
        step += batch_size
        losses = update(args, agent, optimizer, rollout, logits, values)
        charts = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.log_scalars({**charts, **losses}, step)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def collect(
    rollout: Rollout,
    logits: Any,
    values: Any,
    agent: Agent,
    envs: SameStepVector,
    session: TrainingSession,
    step: int,
) -> bool:
    """Fill the rollout with the agent's steps, and `logits` and `values` with its outputs.

    Returns False if a stop request interrupted it, because a rollout may take seconds.
    """
    observations = rollout.observations
    observations[0] = observations[-1]
    noise = gumbel_noise(*logits.shape)
    for t in range(len(logits)):
        logits[t], values[t] = agent.predict(observations[t])
        rollout.actions[t] = actions = (logits[t] + noise[t]).argmax(axis=-1)
        observations[t + 1], rewards, terminated, truncated, infos = envs.step(actions)
        step += envs.num_envs
        rollout.add(t, rewards, terminated, truncated, infos)
        session.log_episodes(infos, terminated, truncated, step)
        if session.should_stop:
            return False
    values[-1] = agent.predict(observations[-1])[1]
    return True


def update(
    args: Args, agent: Agent, optimizer: FlatAdam, rollout: Rollout, logits: Any, values: Any
) -> dict[str, float]:
    """Optimize the policy with the rollout; returns metrics."""
    device = optimizer.flat.device

    def tensor(array: Any) -> torch.Tensor:
        """Flatten the steps of all environments."""
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])).to(device)

    advantages, returns, old_values = rollout.compute_gae(
        lambda frames: agent.predict(frames)[1],
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
        values=values,
    )
    batch = (
        tensor(rollout.observations[:-1]),
        tensor(rollout.actions[..., None]),
        tensor(categorical_log_prob(logits, rollout.actions)),
        tensor(advantages),
        tensor(returns),
        tensor(old_values),
    )
    metrics = UpdateMetrics(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        permutation = torch.from_numpy(np.random.permutation(rollout.rewards.size)).to(device)
        for mb_inds in permutation.tensor_split(args.num_minibatches):
            mb_obs, mb_actions, mb_logprobs, mb_advantages, mb_returns, mb_values = (
                array[mb_inds] for array in batch
            )
            if args.norm_adv:
                mb_advantages = normalize_advantages(mb_advantages)
            new_logits, newvalue = agent(mb_obs)
            log_probs = new_logits.log_softmax(dim=1)
            logratio = log_probs.gather(1, mb_actions)[:, 0] - mb_logprobs
            ratio = logratio.exp()
            pg_loss = -torch.min(
                mb_advantages * ratio, mb_advantages * ratio.clamp(low, high)
            ).mean()

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
    return metrics.as_scalars(old_values, returns)


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self._agent = agent
        self._sampled = sampled

    def act(self, observation: Any) -> Any:
        logits = self._agent.predict(np.array(observation)[None])[0]
        noise = gumbel_noise(*logits.shape) if self._sampled else 0.0
        return int(np.argmax(logits + noise))


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    agent = Agent(checkpoint.policy["actor.bias"].shape[0])
    agent.load_state_dict(checkpoint.policy)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_as_script(Args, train)
