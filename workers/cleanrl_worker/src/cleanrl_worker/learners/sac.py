"""SAC for discrete actions: collect much reward, and stay as undecided as that allows.

An actor tells the probability of each action, and two critics what each is worth, entropy included;
the lower of the two counts. Nothing has to be drawn to learn: the mean over all actions is known.
The weight of the entropy adjusts itself until the policy is as undecided as wanted. For flat
observations; `sac_continuous_action` is the one for boxes.

Christodoulou, "Soft Actor-Critic for Discrete Action Settings", 2019; Haarnoja et al., "Soft
Actor-Critic Algorithms and Applications", 2018.
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
from cleanrl_worker.learning.cadence import times_due
from cleanrl_worker.learning.categorical import gumbel_noise
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.numpy_mlp import NumpyMlp
from cleanrl_worker.learning.replay_buffer import ReplayBuffer
from cleanrl_worker.learning.replay_in_checkpoint import ReplayInCheckpoint
from cleanrl_worker.learning.weight_views import Follower
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.learning.replay_buffer import Batch
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "SAC (discrete)"
ACTION_SPACES = ("discrete",)
LARGE_NETWORK = False
RECOMMENDED = {
    "toy-text": {"total_timesteps": 100_000, "target_entropy_scale": 0.3},
    "classic-control": {"total_timesteps": 100_000},
    "box2d": {"total_timesteps": 500_000, "batch_size": 256},
    "minigrid": {"total_timesteps": 300_000},
}
REPORT_STEPS = 100


@dataclass
class Args(SharedArgs):
    """Flags of SAC for discrete actions."""

    total_timesteps: int = 200_000
    """steps of the experiment, over all environments"""
    buffer_size: int = 100_000
    """steps that are remembered"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    tau: float = 0.005
    """how far the target critics move towards the critics at an update of them"""
    batch_size: int = 128
    """remembered steps that an update learns from"""
    learning_starts: int = 5_000
    """steps before the first update, with random actions"""
    policy_lr: float = 3e-4
    """how far a step of the actor's optimizer goes"""
    q_lr: float = 3e-4
    """how far a step of the critics' optimizer goes"""
    update_frequency: int = 4
    """steps between two updates"""
    target_network_frequency: int = 4
    """steps between two updates of the target critics"""
    alpha: float = 0.2
    """the weight of the entropy, unless it adjusts itself"""
    autotune: bool = True
    """adjust the weight of the entropy"""
    target_entropy_scale: float = 0.5
    """how undecided the policy shall be: 1 for all actions alike, 0 for always one"""


wrap = wrap_for_playing = one_array


class Agent(nn.Module):
    """An actor, two critics, and the weight of the entropy where it adjusts itself."""

    def __init__(self, observation_size: int, actions: int) -> None:
        super().__init__()
        self.actor = relu_mlp(observation_size, actions)
        self.critics = nn.ModuleList(relu_mlp(observation_size, actions) for _ in range(2))
        self.log_alpha = nn.Parameter(torch.zeros(1))


def relu_mlp(inputs: int, outputs: int, *, hidden: int = 128) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, outputs),
    )


class Learner:
    """The agent with its optimizers and target critics."""

    def __init__(self, args: Args, agent: Agent, actions: int) -> None:
        self._args = args
        self._agent = agent
        self._target_entropy = args.target_entropy_scale * math.log(actions)
        self._actor_optimizer = FlatAdam(agent.actor.parameters(), args.policy_lr, eps=1e-4)
        self._critics_optimizer = FlatAdam(agent.critics.parameters(), args.q_lr, eps=1e-4)
        self._alpha_optimizer = FlatAdam([agent.log_alpha], args.q_lr, eps=1e-4)
        self.targets = Follower(agent.critics, self._critics_optimizer)

    def learn(self, batch: Batch) -> dict[str, Any]:
        """One step of the critics, the actor and the entropy's weight; what may be told."""
        agent, args = self._agent, self._args
        alpha = agent.log_alpha.detach().exp() if args.autotune else args.alpha
        taken = batch.actions[:, None]
        with torch.no_grad():
            log_probs = agent.actor(batch.next_observations).log_softmax(dim=1)
            worth = lower_of(self.targets.network, batch.next_observations) - alpha * log_probs
            future = (log_probs.exp() * worth).sum(dim=1)
            expected = batch.rewards + args.gamma * (1.0 - batch.terminated) * future
        values = [critic(batch.observations).gather(1, taken)[:, 0] for critic in agent.critics]
        losses = [nn.functional.mse_loss(value, expected) for value in values]
        self._critics_optimizer.minimise(losses[0] + losses[1])

        log_probs = agent.actor(batch.observations).log_softmax(dim=1)
        probs = log_probs.exp()
        with torch.no_grad():
            worth = lower_of(agent.critics, batch.observations)
        actor_loss = (probs * (alpha * log_probs - worth)).sum(dim=1).mean()
        self._actor_optimizer.minimise(actor_loss)
        told = {
            "losses/qf1_values": values[0].detach().mean(),
            "losses/qf2_values": values[1].detach().mean(),
            "losses/qf1_loss": losses[0].detach(),
            "losses/qf2_loss": losses[1].detach(),
            "losses/qf_loss": (losses[0] + losses[1]).detach() / 2.0,
            "losses/actor_loss": actor_loss.detach(),
            "losses/alpha": alpha,
        }
        if args.autotune:
            entropy = -(probs * log_probs).sum(dim=1).mean().detach()
            alpha_loss = (agent.log_alpha.exp() * (entropy - self._target_entropy)).sum()
            self._alpha_optimizer.minimise(alpha_loss)
            told["losses/alpha_loss"] = alpha_loss.detach()
        return told

    def state(self) -> dict[str, Any]:
        return {
            "targets": self.targets.network.state_dict(),
            "actor_optimizer": self._actor_optimizer.state_dict(),
            "critics_optimizer": self._critics_optimizer.state_dict(),
            "alpha_optimizer": self._alpha_optimizer.state_dict(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.targets.network.load_state_dict(state["targets"])
        self._actor_optimizer.load_state_dict(state["actor_optimizer"])
        self._critics_optimizer.load_state_dict(state["critics_optimizer"])
        self._alpha_optimizer.load_state_dict(state["alpha_optimizer"])


def lower_of(critics: Any, observations: torch.Tensor) -> torch.Tensor:
    """What each action is worth to the critic that thinks less of it."""
    return torch.min(critics[0](observations), critics[1](observations))


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "discrete")
    actions = int(envs.single_action_space.n)
    agent = Agent(int(envs.single_observation_space.shape[0]), actions).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    learner = Learner(args, agent, actions)
    actor = NumpyMlp(agent.actor)
    buffer = ReplayBuffer(
        args.buffer_size,
        envs.num_envs,
        envs.single_observation_space,
        envs.single_action_space,
        session.device,
    )
    updates = 0
    # A policy that has learnt already fills the buffer itself.
    random_steps = 0 if session.warm else args.learning_starts
    if session.resumed:
        random_steps = session.resumed.training["random_steps"]
        learner.load(session.resumed.training["learner"])
        updates = session.resumed.training["updates"]
    kept = ReplayInCheckpoint(buffer, session)
    learning_starts = kept.restore(args.learning_starts)

    def state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {
                "learner": learner.state(),
                "updates": updates,
                "random_steps": random_steps,
                **kept.state(),
            },
        }

    updates_between_reports = max(1, REPORT_STEPS // args.update_frequency)
    # The last thing before the loop: of a resumed training it also brings random numbers back.
    obs = session.first_observations(envs)
    step = session.first_step
    while step < args.total_timesteps:
        if step < random_steps:
            chosen = np.random.randint(0, actions, size=envs.num_envs)
        else:
            logits = actor(np.asarray(obs, dtype=np.float32))
            chosen = (logits + gumbel_noise(*logits.shape)).argmax(axis=1)
        next_obs, rewards, terminated, truncated, infos = envs.step(chosen)
        step += envs.num_envs
        session.episodes(infos, terminated, truncated, step)
        buffer.add(obs, chosen, rewards, terminated, next_obs, infos)
        obs = next_obs

        if step > learning_starts:
            for _ in range(times_due(step, envs.num_envs, args.update_frequency)):
                losses = learner.learn(buffer.sample(args.batch_size))
                actor.refresh()
                updates += 1
                if updates % updates_between_reports == 0:
                    session.scalars({**losses, "charts/SPS": session.sps(step)}, step)
            for _ in range(times_due(step, envs.num_envs, args.target_network_frequency)):
                learner.targets.follow(args.tau)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


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
