"""The loop: as many steps as asked for, at the pace asked for.

Every step carries `info.n`, its number in the run counted from 1, so that a reader can prove that
it has all of them, once, in order.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from echo_worker.misbehaviour import Misbehaviour
from echo_worker.pace import Pace
from echo_worker.picture import Picture

if TYPE_CHECKING:
    from mosaic_worker import Run

REPORTS = 100  # progress lines in a run

CHECKPOINT_ASKED_FOR = "W202"
"""The echo worker wrote a checkpoint because it was asked to."""


def echo(run: Run) -> int:
    """Emit the whole run; returns the exit code that was asked for."""
    return Echo(run).run_all()


class Echo:
    """One run of the echo worker."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._emitter = run.emitter
        self._params = run.config.params
        self._total = run.config.total_timesteps or self._params["steps"]
        self._random = random.Random(run.config.seed)  # noqa: S311 - rewards, not secrets
        self._misbehaviour = Misbehaviour(run)
        self._picture = Picture(run)
        self._done = 0
        self._best = 0.0

    def run_all(self) -> int:
        self._run.accept("checkpoint")
        self._emitter.emit(
            "environment",
            env_id=self._run.config.env_id,
            not_replayable="The echo worker plays in no environment.",
        )
        self._misbehaviour.at_start()
        pace = Pace(self._params["rate"])
        self._emitter.progress(0, self._total)
        while (
            self._done < self._total and not self._run.should_stop and not self._at_last_episode()
        ):
            self._episode(pace)
        self._emitter.progress(self._done, self._total)
        self._save()
        exit_code: int = self._params["exit_code"]
        return exit_code

    def _at_last_episode(self) -> bool:
        limit = self._run.config.max_episodes
        return limit is not None and self._emitter.episodes >= limit

    def _episode(self, pace: Pace) -> None:
        length = min(self._params["episode_length"], self._total - self._done)
        seed = self._run.config.seed + self._emitter.episodes
        episode_id = self._emitter.episode_start(seed=seed)
        total_reward = 0.0
        for step in range(length):
            if not self._may_go_on(pace):
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

    def _may_go_on(self, pace: Pace) -> bool:
        """Wait for the step's turn; False when the run has been asked to stop."""
        if self._run.wait_while_paused():
            pace.restart()
        pace.wait(self._run)
        while (command := self._run.poll()) is not None:
            self._save()
            self._emitter.log(
                "info", CHECKPOINT_ASKED_FOR, "A checkpoint was asked for.", seq=command.seq
            )
        return not self._run.should_stop

    def _step(self, episode_id: str, step: int, reward: float, *, terminated: bool) -> None:
        action = self._done % 4
        info = {"n": self._done}
        if self._params["line_bytes"]:
            self._padded_step(episode_id, step, action, reward, terminated, info)
        else:
            self._emitter.step(episode_id, step, action, reward, terminated, False, step, info)
        self._run.heartbeat.global_step = self._done
        if self._picture.wanted:
            self._picture.show(episode_id, step, action, reward, terminated=terminated)
        if self._done % max(1, self._total // REPORTS) == 0:
            self._emitter.progress(self._done, self._total)
            self._emitter.metric("reward", reward, self._done)
        self._misbehaviour.after_step(self._done)

    def _padded_step(
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
        """A checkpoint holds what a later run would go on from."""
        state = {"steps": self._done, "seed": self._run.config.seed, "best_return": self._best}
        self._run.save_checkpoint(
            f"echo-{self._done}.json",
            json.dumps(state).encode("utf-8"),
            step=self._done,
            metrics={"best_return": self._best},
        )
