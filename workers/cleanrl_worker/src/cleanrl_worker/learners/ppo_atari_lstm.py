"""PPO with memory for Atari games: it sees one picture at a time, and an LSTM remembers the others.

Learning goes through whole rollouts in order, so that minibatches are made of environments and not
of steps. The memory is empty at the beginning of each episode.

Schulman et al., "Proximal Policy Optimization Algorithms", 2017; Huang et al., "The 37
Implementation Details of Proximal Policy Optimization", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.environments import atari
from cleanrl_worker.learning.advantages import estimate_advantages
from cleanrl_worker.learning.categorical import gumbel_noise, log_probabilities
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.layers import orthogonal
from cleanrl_worker.learning.nature_network import FEATURES
from cleanrl_worker.learning.picture_features import picture_features
from cleanrl_worker.learning.rollout import Rollout
from cleanrl_worker.learning.rollout_size import fit_rollout
from cleanrl_worker.learning.update_figures import UpdateFigures, standardised
from cleanrl_worker.session.script import run_script
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

    Memory = tuple[torch.Tensor, torch.Tensor]
    """What the LSTM remembers of each environment: two tensors [1, environments, numbers]."""

LABEL = "PPO with LSTM, Atari"
ACTION_SPACES = ("discrete",)
FAMILIES = ("atari",)
LARGE_NETWORK = True
RECOMMENDED = {
    "atari": {"total_timesteps": 10_000_000, "num_envs": 8, "num_steps": 128, "clip_coef": 0.1}
}


@dataclass
class Args(SharedArgs):
    """Flags of PPO with memory for Atari games."""

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
    """parts that the environments are divided into for each pass"""
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


REMEMBERED = 128
"""Numbers that the LSTM remembers."""
wrap = atari.for_training
wrap_for_playing = atari.for_playing


class Agent(nn.Module):
    """Eyes, a memory of what they saw, and an actor and a critic on top of it."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.network = picture_features(1)
        self.lstm = nn.LSTM(FEATURES, REMEMBERED)
        for name, parameter in self.lstm.named_parameters():
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.orthogonal_(parameter, 1.0)
        self.actor = orthogonal(nn.Linear(REMEMBERED, actions), 0.01)
        self.critic = orthogonal(nn.Linear(REMEMBERED, 1), 1.0)

    def empty_memory(self, num_envs: int) -> Memory:
        zeros = torch.zeros(1, num_envs, REMEMBERED, device=self.critic.weight.device)
        return zeros, zeros.clone()

    def forward(
        self, pictures: torch.Tensor, memory: Memory, begins: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, Memory]:
        """The logits [steps, envs, actions], the values [steps, envs], and the memory after it.

        `pictures` is [steps, envs, …], and `begins` tells with which of them an episode begins.
        """
        steps, num_envs = pictures.shape[:2]
        features = self.network(pictures.flatten(0, 1)).view(steps, num_envs, FEATURES)
        # In one go from one beginning of an episode to the next, whichever environment it is in.
        forgets = begins.any(dim=1).nonzero()[:, 0].tolist()
        borders = [0, *(step for step in forgets if step > 0), steps]
        remembered = []
        for start, end in pairwise(borders):
            goes_on = (~begins[start]).view(1, num_envs, 1)
            memory = (memory[0] * goes_on, memory[1] * goes_on)
            thoughts, memory = self.lstm(features[start:end], memory)
            remembered.append(thoughts)
        hidden = torch.cat(remembered)
        return self.actor(hidden), self.critic(hidden)[..., 0], memory

    @torch.no_grad()
    def judge(self, pictures: Any, memory: Memory, begins: Any) -> tuple[Any, Any, Memory]:
        """One step of each environment, from arrays to arrays, without learning."""
        device = self.critic.weight.device
        logits, values, memory = self(
            torch.from_numpy(pictures).to(device)[None],
            memory,
            torch.from_numpy(begins).to(device)[None],
        )
        return logits[0].cpu().numpy(), values[0].cpu().numpy(), memory


def newest(observations: Any) -> Any:
    """The last of each stack of pictures, as a stack of one."""
    return observations[..., -1:, :, :]


def train(args: Args, session: Session) -> None:
    if args.num_minibatches > args.num_envs:
        raise WorkerError(
            f"{args.num_envs} environments cannot be divided into {args.num_minibatches} parts.",
            remedy="Choose at least as many environments (num_envs) as minibatches.",
        )
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
    roll = Recollection(args, envs, agent, actions)
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
        roll.load_state_dict(session.resumed.training["memory"])
    batch_size = args.num_steps * args.num_envs
    iterations = max(1, args.total_timesteps // batch_size)

    def state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {"optimizer": optimizer.state_dict(), "memory": roll.state_dict()},
        }

    # The last thing before the loop: of a resumed training it also brings random numbers back.
    roll.steps.observations[-1] = newest(session.first_observations(envs))
    if not session.came_back:
        roll.begins[-1] = True
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        if args.anneal_lr:
            optimizer.lr = args.learning_rate * (1.0 - iteration / iterations)
        moment = session.moment(step)
        before = roll.state_dict()
        if not collect(args, roll, agent, envs, session, step):
            roll.load_state_dict(before)
            session.finish(step, state, moment)
            return
        step += batch_size
        losses = update(args, agent, optimizer, roll)
        told = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.scalars({**told, **losses}, step)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


class Recollection:
    """A rollout, with what the agent thought and remembered."""

    def __init__(self, args: Args, envs: SameStepVector, agent: Agent, actions: int) -> None:
        size = (args.num_steps, args.num_envs)
        shape = newest(envs.observations).shape[1:]
        self.steps = Rollout(*size, observation=(shape, np.uint8), action=((), np.int64))
        self.logits = np.zeros((*size, actions), np.float32)
        self.values = np.zeros((args.num_steps + 1, args.num_envs), np.float32)
        self.begins = np.ones((args.num_steps + 1, args.num_envs), np.bool_)
        """With which observations an episode begins."""
        self.first_memory = self.memory = agent.empty_memory(args.num_envs)
        """Before the first step, and after the last one."""

    def state_dict(self) -> dict[str, Any]:
        begins = self.begins[-1].copy()
        return {"hidden": self.memory[0], "cell": self.memory[1], "begins": begins}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        device = self.memory[0].device
        self.memory = (state["hidden"].to(device), state["cell"].to(device))
        self.begins[-1] = np.asarray(state["begins"])


def collect(
    args: Args, roll: Recollection, agent: Agent, envs: SameStepVector, session: Session, step: int
) -> bool:
    """Fill the rollout with the agent's steps.

    False: it takes seconds, and was left in the middle because the session is to stop.
    """
    observations, begins = roll.steps.observations, roll.begins
    observations[0], begins[0] = observations[-1], begins[-1]
    roll.first_memory = memory = roll.memory
    noise = gumbel_noise(*roll.logits.shape)
    for t in range(args.num_steps):
        roll.logits[t], roll.values[t], memory = agent.judge(observations[t], memory, begins[t])
        roll.steps.actions[t] = chosen = (roll.logits[t] + noise[t]).argmax(axis=-1)
        seen, rewards, terminated, truncated, infos = envs.step(chosen)
        step += envs.num_envs
        observations[t + 1] = newest(seen)
        begins[t + 1] = terminated | truncated
        for index in np.flatnonzero(truncated & ~terminated):
            # It would have gone on: what was to be expected there belongs to its last reward.
            last = observations[t + 1].copy()
            last[index] = newest(infos["final_obs"][index])
            expected = agent.judge(last, memory, np.zeros_like(terminated))[1]
            rewards[index] += args.gamma * expected[index]
        roll.steps.add(t, rewards, terminated, truncated, {})
        session.episodes(infos, terminated, truncated, step)
        if session.should_stop:
            return False
    roll.values[-1] = agent.judge(observations[-1], memory, begins[-1])[1]
    roll.memory = memory
    return True


def update(args: Args, agent: Agent, optimizer: FlatAdam, roll: Recollection) -> dict[str, float]:
    """Learn from the rollout; returns what is to be told."""
    device = optimizer.flat.device
    advantages = estimate_advantages(
        roll.steps.rewards,
        roll.values,
        roll.steps.ended,
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
    )
    values = roll.values[:-1]
    returns = advantages + values
    arrays = (
        roll.steps.observations[:-1],
        roll.begins[:-1],
        roll.steps.actions[..., None],
        log_probabilities(roll.logits, roll.steps.actions),
        advantages,
        returns,
        values,
    )
    batch = [torch.from_numpy(array).to(device) for array in arrays]
    figures = UpdateFigures(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        order = torch.from_numpy(np.random.permutation(args.num_envs)).to(device)
        for chosen in order.tensor_split(args.num_minibatches):
            pictures, begins, actions, old_log_probs, gains, expected, old_values = (
                each[:, chosen] for each in batch
            )
            memory = (roll.first_memory[0][:, chosen], roll.first_memory[1][:, chosen])
            advantage = standardised(gains) if args.norm_adv else gains
            logits, new_values, _ = agent(pictures, memory, begins)
            log_probs = logits.log_softmax(dim=-1)
            log_ratio = log_probs.gather(-1, actions)[..., 0] - old_log_probs
            ratio = log_ratio.exp()
            policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(low, high)).mean()

            errors = (new_values - expected).square()
            if args.clip_vloss:
                moved = (new_values - old_values).clamp(-args.clip_coef, args.clip_coef)
                errors = torch.max(errors, (old_values + moved - expected).square())
            value_loss = 0.5 * errors.mean()

            entropy = -(log_probs.exp() * log_probs).sum(dim=-1).mean()
            optimizer.minimise(policy_loss - args.ent_coef * entropy + args.vf_coef * value_loss)
            figures.note(log_ratio.flatten(), policy_loss, value_loss, entropy)
        if figures.moved_further_than(args.target_kl):
            break
    return figures.told(values, returns)


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self._agent = agent
        self._sampled = sampled
        self.begin_episode()

    def begin_episode(self) -> None:
        self._memory = self._agent.empty_memory(1)

    def act(self, observation: Any) -> Any:
        pictures = newest(np.array(observation))[None]
        logits, _, self._memory = self._agent.judge(
            pictures, self._memory, np.zeros(1, dtype=np.bool_)
        )
        noise = gumbel_noise(*logits.shape) if self._sampled else 0.0
        return int(np.argmax(logits + noise))


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    agent = Agent(checkpoint.policy["actor.bias"].shape[0])
    agent.load_state_dict(checkpoint.policy)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_script(Args, train)
