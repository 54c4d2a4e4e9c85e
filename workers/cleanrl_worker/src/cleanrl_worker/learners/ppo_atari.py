"""PPO for Atari games: an actor and a critic that see the same four pictures with the same eyes.

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
from cleanrl_worker.environments import atari
from cleanrl_worker.learning.categorical import gumbel_noise, log_probabilities
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.layers import orthogonal
from cleanrl_worker.learning.nature_network import FEATURES
from cleanrl_worker.learning.picture_features import picture_features
from cleanrl_worker.learning.rollout import Rollout
from cleanrl_worker.learning.rollout_size import fit_rollout
from cleanrl_worker.learning.update_figures import UpdateFigures, standardised
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "PPO, Atari"
ACTION_SPACES = ("discrete",)
FAMILIES = ("atari",)
LARGE_NETWORK = True
RECOMMENDED = {
    "atari": {"total_timesteps": 10_000_000, "num_envs": 8, "num_steps": 128, "clip_coef": 0.1}
}


@dataclass
class Args(SharedArgs):
    """Flags of PPO for Atari games."""

    env_id: str = "BreakoutNoFrameskip-v4"
    """the id of the environment"""
    total_timesteps: int = 10_000_000
    """steps of the experiment, over all environments"""
    num_envs: int = 8
    """environments that are stepped together"""
    learning_rate: float = 2.5e-4
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
    clip_coef: float = 0.1
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


wrap = atari.for_training
wrap_for_playing = atari.for_playing


class Agent(nn.Module):
    """An actor and a critic on top of what both see."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.network = picture_features(atari.PICTURES)
        self.actor = orthogonal(nn.Linear(FEATURES, actions), 0.01)
        self.critic = orthogonal(nn.Linear(FEATURES, 1), 1.0)

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits [rows, actions] and the values [rows]."""
        features = self.network(pictures)
        return self.actor(features), self.critic(features)[:, 0]

    @torch.no_grad()
    def judge(self, pictures: Any) -> tuple[Any, Any]:
        """The same from array to arrays, without learning."""
        logits, values = self(torch.from_numpy(pictures).to(self.critic.weight.device))
        return logits.cpu().numpy(), values.cpu().numpy()


def train(args: Args, session: Session) -> None:
    # To the learner a lost life is an end; whoever looks on wants to know of whole games.
    settings = atari.making_settings(args.env_id)
    envs = session.make_envs(wrap, settings=settings, reports_every_end=False)
    session.require_actions(envs, "discrete")
    fit_rollout(args, session)
    actions = int(envs.single_action_space.n)
    agent = Agent(actions).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
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
    logits = np.zeros((args.num_steps, args.num_envs, actions), np.float32)
    values = np.zeros((args.num_steps + 1, args.num_envs), np.float32)
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
        moment = session.moment(step)
        if not collect(rollout, logits, values, agent, envs, session, step):
            session.finish(step, state, moment)
            return
        step += batch_size
        losses = update(args, agent, optimizer, rollout, logits, values)
        told = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.scalars({**told, **losses}, step)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def collect(
    rollout: Rollout,
    logits: Any,
    values: Any,
    agent: Agent,
    envs: SameStepVector,
    session: Session,
    step: int,
) -> bool:
    """Fill the rollout with the agent's steps; `logits` and `values` are what it thought.

    False: it takes seconds, and was left in the middle because the session is to stop.
    """
    observations = rollout.observations
    observations[0] = observations[-1]
    noise = gumbel_noise(*logits.shape)
    for t in range(len(logits)):
        logits[t], values[t] = agent.judge(observations[t])
        rollout.actions[t] = chosen = (logits[t] + noise[t]).argmax(axis=-1)
        observations[t + 1], rewards, terminated, truncated, infos = envs.step(chosen)
        step += envs.num_envs
        rollout.add(t, rewards, terminated, truncated, infos)
        session.episodes(infos, terminated, truncated, step)
        if session.should_stop:
            return False
    values[-1] = agent.judge(observations[-1])[1]
    return True


def update(
    args: Args, agent: Agent, optimizer: FlatAdam, rollout: Rollout, logits: Any, values: Any
) -> dict[str, float]:
    """Learn from the rollout; returns what is to be told."""
    device = optimizer.flat.device

    def tensor(array: Any) -> torch.Tensor:
        """All steps of all environments in one row."""
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])).to(device)

    advantages, returns, old = rollout.judge(
        lambda pictures: agent.judge(pictures)[1],
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
        values=values,
    )
    batch = (
        tensor(rollout.observations[:-1]),
        tensor(rollout.actions[..., None]),
        tensor(log_probabilities(logits, rollout.actions)),
        tensor(advantages),
        tensor(returns),
        tensor(old),
    )
    figures = UpdateFigures(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        order = torch.from_numpy(np.random.permutation(rollout.rewards.size)).to(device)
        for rows in order.tensor_split(args.num_minibatches):
            pictures, actions, old_log_probs, gains, expected, old_values = (
                each[rows] for each in batch
            )
            advantage = standardised(gains) if args.norm_adv else gains
            new_logits, new_values = agent(pictures)
            log_probs = new_logits.log_softmax(dim=1)
            log_ratio = log_probs.gather(1, actions)[:, 0] - old_log_probs
            ratio = log_ratio.exp()
            policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(low, high)).mean()

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
    return figures.told(old, returns)


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self._agent = agent
        self._sampled = sampled

    def act(self, observation: Any) -> Any:
        logits = self._agent.judge(np.array(observation)[None])[0]
        noise = gumbel_noise(*logits.shape) if self._sampled else 0.0
        return int(np.argmax(logits + noise))


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    agent = Agent(checkpoint.policy["actor.bias"].shape[0])
    agent.load_state_dict(checkpoint.policy)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_script(Args, train)
