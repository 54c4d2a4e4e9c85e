"""PPO with an LSTM for Atari: a recurrent actor-critic that observes one frame at a time.

Updates process complete rollouts in order, so minibatches are split by environment instead of by
step. The LSTM state is reset at the start of each episode.

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
from cleanrl_worker.common.distributions import categorical_log_prob, gumbel_noise
from cleanrl_worker.common.flat_adam import FlatAdam
from cleanrl_worker.common.networks import FEATURES, layer_init, nature_features
from cleanrl_worker.common.rollout import Rollout, compute_gae, validate_rollout_size
from cleanrl_worker.common.update_metrics import UpdateMetrics, normalize_advantages
from cleanrl_worker.environments import atari
from cleanrl_worker.session.console import run_as_script
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

    LstmState = tuple[torch.Tensor, torch.Tensor]
    """Hidden and cell state of the LSTM, [1, environments, LSTM_SIZE] each."""

LABEL = "PPO with an LSTM for Atari"
ACTION_SPACES = ("discrete",)
FAMILIES = ("atari",)
LARGE_NETWORK = True
RECOMMENDED = {
    "atari": {"total_timesteps": 10_000_000, "num_envs": 8, "num_steps": 128, "clip_coef": 0.1}
}


@dataclass
class Args(SharedArgs):
    """Flags of PPO with an LSTM for Atari."""

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
    """Number of minibatches per epoch, split by environment."""
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


LSTM_SIZE = 128
wrap = atari.wrap_for_training
wrap_for_playing = atari.wrap_for_playing


class Agent(nn.Module):
    """Convolutional network and LSTM with an actor and a critic head."""

    def __init__(self, num_actions: int) -> None:
        super().__init__()
        self.network = nature_features(1)
        self.lstm = nn.LSTM(FEATURES, LSTM_SIZE)
        for name, parameter in self.lstm.named_parameters():
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.orthogonal_(parameter, 1.0)
        self.actor = layer_init(nn.Linear(LSTM_SIZE, num_actions), 0.01)
        self.critic = layer_init(nn.Linear(LSTM_SIZE, 1), 1.0)

    def initial_lstm_state(self, num_envs: int) -> LstmState:
        zeros = torch.zeros(1, num_envs, LSTM_SIZE, device=self.critic.weight.device)
        return zeros, zeros.clone()

    def forward(
        self, frames: torch.Tensor, lstm_state: LstmState, starts: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, LstmState]:
        """Return the logits [steps, envs, actions], the values [steps, envs] and the LSTM state.

        `frames` is [steps, envs, ...]; `starts` is True for the first frame of an episode.
        """
        steps, num_envs = frames.shape[:2]
        features = self.network(frames.flatten(0, 1)).view(steps, num_envs, FEATURES)
        # One LSTM call per segment without an episode start in any environment.
        resets = starts.any(dim=1).nonzero()[:, 0].tolist()
        boundaries = [0, *(step for step in resets if step > 0), steps]
        outputs = []
        for start, end in pairwise(boundaries):
            not_done = (~starts[start]).view(1, num_envs, 1)
            lstm_state = (lstm_state[0] * not_done, lstm_state[1] * not_done)
            output, lstm_state = self.lstm(features[start:end], lstm_state)
            outputs.append(output)
        hidden = torch.cat(outputs)
        return self.actor(hidden), self.critic(hidden)[..., 0], lstm_state

    @torch.no_grad()
    def predict(
        self, frames: Any, lstm_state: LstmState, starts: Any
    ) -> tuple[Any, Any, LstmState]:
        """Return the logits and values of one step as arrays, and the next LSTM state."""
        device = self.critic.weight.device
        logits, values, lstm_state = self(
            torch.from_numpy(frames).to(device)[None],
            lstm_state,
            torch.from_numpy(starts).to(device)[None],
        )
        return logits[0].cpu().numpy(), values[0].cpu().numpy(), lstm_state


def last_frame(observations: Any) -> Any:
    """Return the newest frame of each stack, as a stack of one."""
    return observations[..., -1:, :, :]


def train(args: Args, session: TrainingSession) -> None:
    if args.num_minibatches > args.num_envs:
        raise WorkerError(
            f"{args.num_envs} environments cannot be split into"
            f" {args.num_minibatches} minibatches.",
            remedy="Set num_envs to at least num_minibatches.",
        )
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
    storage = RecurrentRollout(args, envs, agent, num_actions)
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
        storage.load_state_dict(session.resumed.training["memory"])
    batch_size = args.num_steps * args.num_envs
    iterations = max(1, args.total_timesteps // batch_size)

    def get_state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {"optimizer": optimizer.state_dict(), "memory": storage.state_dict()},
        }

    # Must be last: it also restores the random state of a resumed training.
    storage.rollout.observations[-1] = last_frame(session.initial_observations(envs))
    if not session.has_restored_envs:
        storage.starts[-1] = True
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        if args.anneal_lr:
            optimizer.lr = args.learning_rate * (1.0 - iteration / iterations)
        snapshot = session.snapshot(step)
        previous = storage.state_dict()
        if not collect(args, storage, agent, envs, session, step):
            storage.load_state_dict(previous)
            session.finish(step, get_state, snapshot)
            return
        step += batch_size
        losses = update(args, agent, optimizer, storage)
        charts = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.log_scalars({**charts, **losses}, step)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


class RecurrentRollout:
    """A rollout with logits, values and LSTM states."""

    def __init__(self, args: Args, envs: SameStepVector, agent: Agent, num_actions: int) -> None:
        size = (args.num_steps, args.num_envs)
        shape = last_frame(envs.observations).shape[1:]
        self.rollout = Rollout(*size, observation=(shape, np.uint8), action=((), np.int64))
        self.logits = np.zeros((*size, num_actions), np.float32)
        self.values = np.zeros((args.num_steps + 1, args.num_envs), np.float32)
        self.starts = np.ones((args.num_steps + 1, args.num_envs), np.bool_)
        """Whether an observation is the first one of an episode."""
        self.initial_lstm_state = self.lstm_state = agent.initial_lstm_state(args.num_envs)
        """The LSTM state before the first step, and after the last one."""

    def state_dict(self) -> dict[str, Any]:
        hidden, cell = self.lstm_state
        return {"hidden": hidden, "cell": cell, "begins": self.starts[-1].copy()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        device = self.lstm_state[0].device
        self.lstm_state = (state["hidden"].to(device), state["cell"].to(device))
        self.starts[-1] = np.asarray(state["begins"])


def collect(
    args: Args,
    storage: RecurrentRollout,
    agent: Agent,
    envs: SameStepVector,
    session: TrainingSession,
    step: int,
) -> bool:
    """Fill the rollout with the agent's steps.

    Returns False if a stop request interrupted it, because a rollout may take seconds.
    """
    observations, starts = storage.rollout.observations, storage.starts
    observations[0], starts[0] = observations[-1], starts[-1]
    storage.initial_lstm_state = lstm_state = storage.lstm_state
    noise = gumbel_noise(*storage.logits.shape)
    for t in range(args.num_steps):
        storage.logits[t], storage.values[t], lstm_state = agent.predict(
            observations[t], lstm_state, starts[t]
        )
        storage.rollout.actions[t] = actions = (storage.logits[t] + noise[t]).argmax(axis=-1)
        next_obs, rewards, terminated, truncated, infos = envs.step(actions)
        step += envs.num_envs
        observations[t + 1] = last_frame(next_obs)
        starts[t + 1] = terminated | truncated
        for index in np.flatnonzero(truncated & ~terminated):
            # Bootstrap a truncated episode from the value of its final observation.
            final_obs = observations[t + 1].copy()
            final_obs[index] = last_frame(infos["final_obs"][index])
            values = agent.predict(final_obs, lstm_state, np.zeros_like(terminated))[1]
            rewards[index] += args.gamma * values[index]
        storage.rollout.add(t, rewards, terminated, truncated, {})
        session.log_episodes(infos, terminated, truncated, step)
        if session.should_stop:
            return False
    storage.values[-1] = agent.predict(observations[-1], lstm_state, starts[-1])[1]
    storage.lstm_state = lstm_state
    return True


def update(
    args: Args, agent: Agent, optimizer: FlatAdam, storage: RecurrentRollout
) -> dict[str, float]:
    """Optimize the policy with the rollout; returns metrics."""
    device = optimizer.flat.device
    advantages = compute_gae(
        storage.rollout.rewards,
        storage.values,
        storage.rollout.dones,
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
    )
    values = storage.values[:-1]
    returns = advantages + values
    arrays = (
        storage.rollout.observations[:-1],
        storage.starts[:-1],
        storage.rollout.actions[..., None],
        categorical_log_prob(storage.logits, storage.rollout.actions),
        advantages,
        returns,
        values,
    )
    batch = [torch.from_numpy(array).to(device) for array in arrays]
    metrics = UpdateMetrics(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        permutation = torch.from_numpy(np.random.permutation(args.num_envs)).to(device)
        for mb_envs in permutation.tensor_split(args.num_minibatches):
            mb_obs, mb_starts, mb_actions, mb_logprobs, mb_advantages, mb_returns, mb_values = (
                array[:, mb_envs] for array in batch
            )
            hidden, cell = storage.initial_lstm_state
            lstm_state = (hidden[:, mb_envs], cell[:, mb_envs])
            if args.norm_adv:
                mb_advantages = normalize_advantages(mb_advantages)
            logits, newvalue, _ = agent(mb_obs, lstm_state, mb_starts)
            log_probs = logits.log_softmax(dim=-1)
            logratio = log_probs.gather(-1, mb_actions)[..., 0] - mb_logprobs
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

            entropy = -(log_probs.exp() * log_probs).sum(dim=-1).mean()
            loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
            optimizer.minimize(loss)
            metrics.record(logratio.flatten(), pg_loss, v_loss, entropy)
        if metrics.exceeds_kl(args.target_kl):
            break
    return metrics.as_scalars(values, returns)


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self._agent = agent
        self._sampled = sampled
        self.begin_episode()

    def begin_episode(self) -> None:
        self._lstm_state = self._agent.initial_lstm_state(1)

    def act(self, observation: Any) -> Any:
        frames = last_frame(np.array(observation))[None]
        logits, _, self._lstm_state = self._agent.predict(
            frames, self._lstm_state, np.zeros(1, dtype=np.bool_)
        )
        noise = gumbel_noise(*logits.shape) if self._sampled else 0.0
        return int(np.argmax(logits + noise))


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    agent = Agent(checkpoint.policy["actor.bias"].shape[0])
    agent.load_state_dict(checkpoint.policy)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_as_script(Args, train)
