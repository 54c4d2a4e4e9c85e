"""CheckpointKeeper: saves tables on schedule or when told to; keeps the newest and the best."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.checkpoints.table_file import TableCheckpoint, table_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mosaic_worker import Run
    from spade_bdi_rl_worker.learning.learner import Learner

LAST, BEST = "last.json", "best.json"


class CheckpointKeeper:
    """Of one learner. `step-N.json` files come and go; `last.json` and `best.json` stay."""

    def __init__(
        self,
        run: Run,
        environment: Mapping[str, Any],
        env_kwargs: Mapping[str, Any],
        *,
        every_steps: int,
        keep: int,
        prefix: str = "",
    ) -> None:
        """`environment` and `env_kwargs` say what the tables are of; `prefix` is a teammate's."""
        self._run = run
        self._environment = dict(environment)
        self._env_kwargs = dict(env_kwargs)
        self._every = every_steps
        self._keep = keep
        self._prefix = prefix
        self._scheduled: list[Path] = []
        self._best: tuple[float, float] | None = None
        self._saved_at = -1
        self.due_at = every_steps or None
        """The step at which the next one on schedule is due; None: never."""

    def save(self, learner: Learner, why: str) -> Path:
        """Writes it whole or not at all; the path of the file of this step."""
        progress = learner.progress
        step = progress.steps
        if self._every:
            self.due_at = (step // self._every + 1) * self._every
        name = f"{self._prefix}step-{step}.json"
        if step == self._saved_at:
            return self._run.directory / "checkpoints" / name
        content = table_bytes(self._checkpoint(learner))
        metrics = {
            "success_rate": round(progress.success_rate, 4),
            "episodic_return": round(progress.mean_return, 4),
        }
        meta = {"algo": learner.settings.algo, "env_id": self._run.config.env_id, "why": why}

        def written(name: str, content: Any) -> Path:
            return self._run.save_checkpoint(name, content, step=step, metrics=metrics, **meta)

        path = written(name, content)
        written(self._prefix + LAST, lambda other: _another_name(path, other))
        reached = (progress.success_rate, progress.mean_return)
        if self._best is None or reached >= self._best:
            self._best = reached
            written(self._prefix + BEST, lambda other: _another_name(path, other))
        self._saved_at = step
        self._forget_oldest(path)
        return path

    def _checkpoint(self, learner: Learner) -> TableCheckpoint:
        progress, method = learner.progress, learner.method
        parameters = asdict(learner.settings)
        return TableCheckpoint(
            algo=learner.settings.algo,
            parameters=parameters,
            seed=learner.settings.seed,
            episodes=progress.episodes,
            steps=progress.steps,
            success_rate=progress.success_rate,
            mean_return=progress.mean_return,
            env_id=self._run.config.env_id,
            env_kwargs=self._env_kwargs,
            environment=self._environment,
            names=learner.encoding.names,
            tables=[table.rows for table in method.tables],
            tries=method.tries,
        )

    def _forget_oldest(self, written: Path) -> None:
        self._scheduled.append(written)
        while len(self._scheduled) > self._keep:
            self._scheduled.pop(0).unlink(missing_ok=True)


def _another_name(written: Path, path: Path) -> None:
    path.unlink(missing_ok=True)
    try:
        os.link(written, path)
    except OSError:  # a file system without links
        shutil.copyfile(written, path)
