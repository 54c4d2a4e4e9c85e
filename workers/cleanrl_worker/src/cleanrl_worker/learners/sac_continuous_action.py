"""SAC: the most return with the most randomness left, learnt from a memory of past steps.

An actor draws actions from a distribution of its own. Two critics tell the return to expect, and
with it the entropy to come; the actor moves towards what the lower one values. How much entropy is
worth is tuned so that the policy keeps a given amount. For continuous actions.

Haarnoja et al., "Soft Actor-Critic Algorithms and Applications", 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.environments.making import one_array
from cleanrl_worker.learning.action_bounds import ActionBounds, ScaledActions
from cleanrl_worker.learning.continuous_policy import ContinuousPolicy, bounds_of
from cleanrl_worker.learning.critics import Critics
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.numpy_mlp import NumpyMlp
from cleanrl_worker.learning.replay_buffer import ReplayBuffer
from cleanrl_worker.learning.replay_in_checkpoint import ReplayInCheckpoint
from cleanrl_worker.learning.weight_views import Follower, without_learning
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.learning.replay_buffer import Batch
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "SAC"
ACTION_SPACES = ("box",)
LARGE_NETWORK = False
RECOMMENDED = {
    "classic-control": {"total_timesteps": 20_000, "learning_starts": 1_000},
    "box2d": {"total_timesteps": 500_000, "learning_starts": 10_000},
    "mujoco": {"total_timesteps": 1_000_000},
}
REPORT_STEPS = 100
LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


@dataclass
class Args(SharedArgs):
    """Flags of SAC."""

    env_id: str = "Hopper-v5"
    """the id of the environment"""
    total_timesteps: int = 1_000_000
    """steps of the experiment, over all environments"""
    buffer_size: int = 1_000_000
    """steps that are remembered"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    tau: float = 0.005
    """how far the target critics move towards the critics at an update of them"""
    batch_size: int = 256
    """remembered steps that an update learns from"""
    learning_starts: int = 5_000
    """steps with random actions before the first update"""
    policy_lr: float = 3e-4
    """how far a step of the actor's optimizer goes"""
    q_lr: float = 1e-3
    """how far a step of the critics' optimizer goes, and of the one that tunes the entropy"""
    policy_frequency: int = 2
    """updates of the critics between two rounds of as many updates of the actor"""
    target_network_frequency: int = 1
    """updates of the critics between two updates of the target critics"""
    alpha: float = 0.2
    """what entropy is worth, unless it is tuned"""
    autotune: bool = True
    """tune what entropy is worth"""


wrap = wrap_for_playing = one_array


class Agent(nn.Module):
    """A distribution of actions: a normal one, squashed into the bounds."""

    def __init__(self, observation_size: int, bounds: ActionBounds) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(observation_size, 256),
            nn.ReLU(),
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Linear(256, 2 * bounds.size),
        )
        self.scaled = ScaledActions(bounds)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions drawn, and the logarithm of their probability density."""
        mean, spread = self.network(observations).chunk(2, dim=1)
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (torch.tanh(spread) + 1)
        noise = torch.randn_like(mean)
        squashed = torch.tanh(mean + log_std.exp() * noise)
        # The density of the normal draw, and by how much squashing and scaling compress it there.
        density = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
        compressed = torch.log(self.scaled.scale * (1 - squashed.square()) + 1e-6)
        return self.scaled(squashed), (density - compressed).sum(dim=1)


class ActsBySampling:
    """The actor on the way through an environment, in numpy."""

    def __init__(self, actor: Agent, bounds: ActionBounds, *, sampled: bool) -> None:
        """`sampled` False: the middle of the distribution."""
        self._network = NumpyMlp(actor.network)
        self._bounds = bounds
        self._sampled = sampled

    def __call__(self, observations: Any) -> Any:
        """Rows of observations to rows of actions."""
        self._network.refresh()
        rows = np.asarray(observations, dtype=np.float32)
        mean, spread = np.split(self._network(rows), 2, axis=1)
        if self._sampled:
            log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (np.tanh(spread) + 1)
            noise = np.random.standard_normal(mean.shape).astype(np.float32)
            mean = mean + np.exp(log_std) * noise
        return self._bounds.scaled(np.tanh(mean))


class SoftActorCritic:
    """The networks and how they learn."""

    def __init__(
        self, args: Args, observation_size: int, bounds: ActionBounds, session: Session
    ) -> None:
        self._args = args
        self.actor = Agent(observation_size, bounds).to(session.device)
        self._critics = Critics(2, observation_size + bounds.size).to(session.device)
        if session.warm:
            self.actor.load_state_dict(session.warm.policy)
            self._critics.load_state_dict(session.warm.training["critics"])
        self._actor_optimizer = FlatAdam(self.actor.parameters(), args.policy_lr)
        self._critics_optimizer = FlatAdam(self._critics.parameters(), args.q_lr)
        self._target = Follower(self._critics, self._critics_optimizer)
        self._judges = without_learning(self._critics)
        self._log_alpha = nn.Parameter(torch.zeros(1, device=session.device))
        if session.warm:
            self._log_alpha.data.copy_(session.warm.training["log_alpha"])
        self._alpha_optimizer = FlatAdam([self._log_alpha], args.q_lr)
        self._target_entropy = -float(bounds.size)
        fixed = torch.full((1,), args.alpha, device=session.device)
        self._alpha = self._log_alpha.detach().exp() if args.autotune else fixed
        self._told: dict[str, Any] = {}
        if session.resumed:
            self._load(session.resumed.training)

    def learn(self, batch: Batch, update: int) -> None:
        """One step of the critics, and of the rest when it is due."""
        args = self._args
        with torch.no_grad():
            next_actions, next_log_probs = self.actor(batch.next_observations)
            values = self._target.network(batch.next_observations, next_actions)
            future = torch.minimum(values[0], values[1]) - self._alpha * next_log_probs
            expected = batch.rewards + args.gamma * (1.0 - batch.terminated) * future
        values = self._critics(batch.observations, batch.actions)
        losses = (values - expected).square().mean(dim=1)
        self._critics_optimizer.minimise(losses.sum())
        if update % args.policy_frequency == 0:
            # As many as were left out, so that the actor learns as often as the critics do.
            for _ in range(args.policy_frequency):
                self._learn_actor(batch.observations)
        if update % args.target_network_frequency == 0:
            self._target.follow(args.tau)
        self._told.update(critic_losses=losses.detach(), values=values.detach())

    def losses(self) -> dict[str, Any]:
        """Of the newest update, under TensorBoard's tags."""
        first, second = self._told["critic_losses"].tolist()
        first_value, second_value = self._told["values"].mean(dim=1).tolist()
        told = {
            "losses/qf1_values": first_value,
            "losses/qf2_values": second_value,
            "losses/qf1_loss": first,
            "losses/qf2_loss": second,
            "losses/qf_loss": (first + second) / 2,
            "losses/alpha": self._alpha,
        }
        for name in ("actor_loss", "alpha_loss"):
            if name in self._told:
                told[f"losses/{name}"] = self._told[name]
        return told

    def state(self) -> dict[str, Any]:
        return {
            "critics": self._critics.state_dict(),
            "target": self._target.network.state_dict(),
            "log_alpha": self._log_alpha.detach(),
            "optimizers": [each.state_dict() for each in self._optimizers()],
        }

    def _learn_actor(self, observations: torch.Tensor) -> None:
        actions, log_probs = self.actor(observations)
        values = self._judges(observations, actions)
        loss = (self._alpha * log_probs - torch.minimum(values[0], values[1])).mean()
        self._actor_optimizer.minimise(loss)
        self._told["actor_loss"] = loss.detach()
        if self._args.autotune:
            surplus = (log_probs.detach() + self._target_entropy).mean()
            alpha_loss = (-self._log_alpha.exp() * surplus).sum()
            self._alpha_optimizer.minimise(alpha_loss)
            self._alpha = self._log_alpha.detach().exp()
            self._told["alpha_loss"] = alpha_loss.detach()

    def _optimizers(self) -> tuple[FlatAdam, ...]:
        return self._actor_optimizer, self._critics_optimizer, self._alpha_optimizer

    def _load(self, training: dict[str, Any]) -> None:
        self._target.network.load_state_dict(training["target"])
        for optimizer, state in zip(self._optimizers(), training["optimizers"], strict=True):
            optimizer.load_state_dict(state)


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "box")
    space: Any = envs.single_action_space
    bounds = ActionBounds(space.low, space.high)
    learner = SoftActorCritic(args, envs.observations.shape[1], bounds, session)
    act = ActsBySampling(learner.actor, bounds, sampled=True)
    buffer = ReplayBuffer(
        args.buffer_size, envs.num_envs, envs.single_observation_space, space, session.device
    )
    kept = ReplayInCheckpoint(buffer, session)
    learning_starts = kept.restore(args.learning_starts)
    # A policy that has learnt already fills the buffer itself.
    random_steps = 0 if session.warm else args.learning_starts
    if session.resumed:
        random_steps = session.resumed.training["random_steps"]

    def state() -> dict[str, Any]:
        training = {**learner.state(), "random_steps": random_steps}
        training.update(kept.state())
        return {"policy": learner.actor.state_dict(), "training": training}

    # The last thing before the loop: of a resumed training it also brings random numbers back.
    obs = session.first_observations(envs)
    step = session.first_step
    while step < args.total_timesteps:
        actions = bounds.random(envs.num_envs) if step < random_steps else act(obs)
        given = actions.reshape(envs.num_envs, *space.shape).astype(space.dtype, copy=False)
        next_obs, rewards, terminated, truncated, infos = envs.step(given)
        buffer.add(obs, actions, rewards, terminated, next_obs, infos)
        obs = next_obs
        # One update per step of an environment, however many are stepped together.
        for update in range(step, step + envs.num_envs):
            if update > learning_starts:
                learner.learn(buffer.sample(args.batch_size), update)
                if update % REPORT_STEPS == 0:
                    session.scalars({**learner.losses(), "charts/SPS": session.sps(update)}, update)
        step += envs.num_envs
        session.episodes(infos, terminated, truncated, step)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: actions drawn as while training, instead of the middle of their distribution."""
    bounds = bounds_of(checkpoint)
    actor = Agent(checkpoint.policy["network.0.weight"].shape[1], bounds)
    actor.load_state_dict(checkpoint.policy)
    act = ActsBySampling(actor, bounds, sampled=sampled)
    return ContinuousPolicy(act, checkpoint.action_space)


if __name__ == "__main__":
    run_script(Args, train)
