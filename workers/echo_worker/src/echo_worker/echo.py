"""Echo: the loop that emits steps at the requested rate.

Every step carries `info.n`, its number in the run from 1, so that a reader can verify that it has
all steps exactly once and in order.
"""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

from echo_worker.misbehaviour import Misbehaviour
from echo_worker.reward_chart import RewardChart

if TYPE_CHECKING:
    from mosaic_worker import Run

REPORTS = 100  # progress lines per run
BURST_SECONDS = 0.04

CHECKPOINT_REQUESTED = "W202"
"""The echo worker wrote a checkpoint on request."""


def echo(run: Run) -> int:
    """Emit all steps; returns the requested exit code."""
    return Echo(run).run_all()


class Echo:
    """One run of the echo worker."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._emitter = run.emitter
        self._params = run.config.params
        self._total = run.config.total_timesteps or self._params["steps"]
        self._random = random.Random(run.config.seed)  # noqa: S311 - not used for security
        self._misbehaviour = Misbehaviour(run)
        self._chart = RewardChart(run)
        self._done = 0
        self._best = 0.0

    def run_all(self) -> int:
        self._run.accept("checkpoint")
        self._emitter.emit(
            "environment",
            env_id=self._run.config.env_id,
            not_replayable="The echo worker has no environment.",
        )
        self._misbehaviour.at_start()
        limiter = RateLimiter(self._params["rate"])
        self._emitter.progress(0, self._total)
        while (
            self._done < self._total and not self._run.should_stop and not self._has_all_episodes()
        ):
            self._run_episode(limiter)
        self._emitter.progress(self._done, self._total)
        self._save()
        exit_code: int = self._params["exit_code"]
        return exit_code

    def _has_all_episodes(self) -> bool:
        limit = self._run.config.max_episodes
        return limit is not None and self._emitter.episodes >= limit

    def _run_episode(self, limiter: RateLimiter) -> None:
        length = min(self._params["episode_length"], self._total - self._done)
        seed = self._run.config.seed + self._emitter.episodes
        episode_id = self._emitter.episode_start(seed=seed)
        total_reward = 0.0
        for step in range(length):
            if not self._wait_for_step(limiter):
                return  # an unfinished episode has no `episode` line
            reward = round(self._random.random(), 6)
            total_reward += reward
            self._done += 1
            self._step(episode_id, step, reward, terminated=step + 1 == length)
        self._best = max(self._best, total_reward)
        self._emitter.episode(episode_id, length, total_reward, terminated=True, truncated=False)
        self._emitter.metrics(
            {"episode_return": total_reward, "best_return": self._best}, step=self._done
        )

    def _wait_for_step(self, limiter: RateLimiter) -> bool:
        """Wait until the next step is due; False if a stop was requested."""
        if self._run.wait_while_paused():
            limiter.restart()
        limiter.wait(self._run)
        while (command := self._run.poll()) is not None:
            self._save()
            self._emitter.log(
                "info", CHECKPOINT_REQUESTED, "A checkpoint was requested.", seq=command.seq
            )
        return not self._run.should_stop

    def _step(self, episode_id: str, step: int, reward: float, *, terminated: bool) -> None:
        action = self._done % 4
        info = {"n": self._done}
        if self._params["line_bytes"]:
            self._write_padded_step(episode_id, step, action, reward, terminated, info)
        else:
            self._emitter.step(episode_id, step, action, reward, terminated, False, step, info)
        self._run.heartbeat.global_step = self._done
        if self._chart.is_enabled:
            self._chart.show(episode_id, step, action, reward, terminated=terminated)
        if self._done % max(1, self._total // REPORTS) == 0:
            self._emitter.progress(self._done, self._total)
            self._emitter.metric("reward", reward, self._done)
        self._misbehaviour.after_step(self._done)

    def _write_padded_step(
        self,
        episode_id: str,
        step: int,
        action: int,
        reward: float,
        terminated: bool,
        info: dict[str, int],
    ) -> None:
        line = self._emitter.encode(
            "step",
            episode_id=episode_id,
            step=step,
            action=action,
            reward=reward,
            terminated=terminated,
            truncated=False,
            obs=step,
            info={**info, "pad": ""},
        )
        missing = self._params["line_bytes"] - len(line) - 1
        self._emitter.write_line(line.replace(b'"pad":""', b'"pad":"' + b"x" * missing + b'"'))

    def _save(self) -> None:
        """Write a checkpoint with the state of the run."""
        state = {"steps": self._done, "seed": self._run.config.seed, "best_return": self._best}
        self._run.save_checkpoint(
            f"echo-{self._done}.json",
            json.dumps(state).encode("utf-8"),
            step=self._done,
            metrics={"best_return": self._best},
        )


class RateLimiter:
    """Limits the loop to `rate` steps per second, in bursts of 40 ms; 0 is unlimited."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._allowed = 0.0
        self._updated_at = time.monotonic()

    def restart(self) -> None:
        """Ignore the time that has passed, for example during a pause."""
        self._allowed = 0.0
        self._updated_at = time.monotonic()

    def wait(self, run: Run) -> None:
        """Wait for the next step, or until a stop is requested."""
        if not self._rate:
            return
        while self._allowed < 1.0 and not run.should_stop:
            run.wait(max(BURST_SECONDS, (1.0 - self._allowed) / self._rate))
            now = time.monotonic()
            self._allowed += (now - self._updated_at) * self._rate
            self._updated_at = now
        self._allowed -= 1.0
