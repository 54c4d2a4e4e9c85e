"""DDPG: an actor that follows a critic's slope, both learnt from a memory of past steps.

The critic tells the return to expect of an action, and since it can be differentiated, the actor
moves each action to where it says that there is more. Slowly following copies of both give the
critic its targets. For continuous actions; TD3 and SAC are what it was improved to.

Lillicrap et al., "Continuous control with deep reinforcement learning", 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.environments.making import one_array
from cleanrl_worker.learning.action_bounds import ActionBounds
from cleanrl_worker.learning.critics import Critics
from cleanrl_worker.learning.deterministic_actor import (
    ActsWithNoise,
    DeterministicActor,
    deterministic_policy,
)
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.replay_buffer import ReplayBuffer
from cleanrl_worker.learning.replay_in_checkpoint import ReplayInCheckpoint
from cleanrl_worker.learning.weight_views import Follower, without_learning
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.learning.replay_buffer import Batch
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "DDPG"
ACTION_SPACES = ("box",)
LARGE_NETWORK = False
RECOMMENDED = {
    "classic-control": {
        "total_timesteps": 20_000,
        "learning_starts": 1_000,
        "learning_rate": 1e-3,
    },
    "box2d": {"total_timesteps": 500_000, "learning_starts": 10_000},
    "mujoco": {"total_timesteps": 1_000_000},
}
REPORT_STEPS = 100


@dataclass
class Args(SharedArgs):
    """Flags of DDPG."""

    env_id: str = "Hopper-v5"
    """the id of the environment"""
    total_timesteps: int = 1_000_000
    """steps of the experiment, over all environments"""
    learning_rate: float = 3e-4
    """how far a step of the optimizers goes"""
    buffer_size: int = 1_000_000
    """steps that are remembered"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    tau: float = 0.005
    """how far the target networks move towards the networks at an update of them"""
    batch_size: int = 256
    """remembered steps that an update learns from"""
    exploration_noise: float = 0.1
    """the deviation of the noise on the actions taken, as a share of the actions' range"""
    learning_starts: int = 25_000
    """steps with random actions before the first update"""
    policy_frequency: int = 2
    """updates of the critic between two of the actor and of the target networks"""


wrap = wrap_for_playing = one_array
Agent = DeterministicActor


class DeterministicPolicyGradient:
    """The networks and how they learn."""

    def __init__(
        self, args: Args, observation_size: int, bounds: ActionBounds, session: Session
    ) -> None:
        self._args = args
        self.actor = Agent(observation_size, bounds).to(session.device)
        self._critic = Critics(1, observation_size + bounds.size).to(session.device)
        if session.warm:
            self.actor.load_state_dict(session.warm.policy)
            self._critic.load_state_dict(session.warm.training["critic"])
        self._actor_optimizer = FlatAdam(self.actor.parameters(), args.learning_rate)
        self._critic_optimizer = FlatAdam(self._critic.parameters(), args.learning_rate)
        self._target_actor = Follower(self.actor, self._actor_optimizer)
        self._target_critic = Follower(self._critic, self._critic_optimizer)
        self._judge = without_learning(self._critic)
        self._told: dict[str, torch.Tensor] = {}
        if session.resumed:
            self._load(session.resumed.training)

    def learn(self, batch: Batch, update: int) -> None:
        """One step of the critic, and of the actor when it is due."""
        args = self._args
        with torch.no_grad():
            next_actions = self._target_actor.network(batch.next_observations)
            future = self._target_critic.network(batch.next_observations, next_actions)[0]
            expected = batch.rewards + args.gamma * (1.0 - batch.terminated) * future
        values = self._critic(batch.observations, batch.actions)[0]
        critic_loss = (values - expected).square().mean()
        self._critic_optimizer.minimise(critic_loss)
        self._told.update(qf1_loss=critic_loss.detach(), qf1_values=values.detach().mean())
        if update % args.policy_frequency == 0:
            actions = self.actor(batch.observations)
            loss = -self._judge(batch.observations, actions).mean()
            self._actor_optimizer.minimise(loss)
            self._told["actor_loss"] = loss.detach()
            self._target_actor.follow(args.tau)
            self._target_critic.follow(args.tau)

    def losses(self) -> dict[str, Any]:
        """Of the newest update, under TensorBoard's tags."""
        return {f"losses/{name}": value.item() for name, value in self._told.items()}

    def state(self) -> dict[str, Any]:
        return {
            "critic": self._critic.state_dict(),
            "target_actor": self._target_actor.network.state_dict(),
            "target_critic": self._target_critic.network.state_dict(),
            "actor_optimizer": self._actor_optimizer.state_dict(),
            "critic_optimizer": self._critic_optimizer.state_dict(),
        }

    def _load(self, training: dict[str, Any]) -> None:
        self._target_actor.network.load_state_dict(training["target_actor"])
        self._target_critic.network.load_state_dict(training["target_critic"])
        self._actor_optimizer.load_state_dict(training["actor_optimizer"])
        self._critic_optimizer.load_state_dict(training["critic_optimizer"])


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "box")
    space: Any = envs.single_action_space
    bounds = ActionBounds(space.low, space.high)
    learner = DeterministicPolicyGradient(args, envs.observations.shape[1], bounds, session)
    act = ActsWithNoise(learner.actor, bounds, args.exploration_noise)
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
                    told = {**learner.losses(), "charts/SPS": session.sps(update)}
                    session.scalars(told, update)
        step += envs.num_envs
        session.episodes(infos, terminated, truncated, step)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: with the noise of training."""
    return deterministic_policy(checkpoint, checkpoint.args["exploration_noise"] * sampled)


if __name__ == "__main__":
    run_script(Args, train)
