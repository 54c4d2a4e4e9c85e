"""TableSaver: saves checkpoints on schedule or on request, and keeps the newest and the best."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.checkpoints.table_file import TableCheckpoint, encode_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mosaic_worker import Run
    from spade_bdi_rl_worker.learning.learner import TableLearner

LAST, BEST = "last.json", "best.json"


class TableSaver:
    """The checkpoints of one learner: rotating `step-N.json`, and `last.json` and `best.json`."""

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
        """`environment` comes from `describe_environment`; a second learner has a `prefix`."""
        self._run = run
        self._environment = dict(environment)
        self._env_kwargs = dict(env_kwargs)
        self._every_steps = every_steps
        self._keep = keep
        self._prefix = prefix
        self._saved_paths: list[Path] = []
        self._best: tuple[float, float] | None = None
        self._last_saved_step = -1
        self.next_save_step = every_steps or None
        """The step of the next scheduled checkpoint; None: never."""

    def save(self, learner: TableLearner, reason: str) -> Path:
        """Write the checkpoint atomically and return its path."""
        progress = learner.progress
        step = progress.steps
        if self._every_steps:
            self.next_save_step = (step // self._every_steps + 1) * self._every_steps
        name = f"{self._prefix}step-{step}.json"
        if step == self._last_saved_step:
            return self._run.directory / "checkpoints" / name
        metrics = {
            "success_rate": round(progress.success_rate, 4),
            "episodic_return": round(progress.mean_return, 4),
        }
        meta = {"algo": learner.settings.algo, "env_id": self._run.config.env_id, "why": reason}

        def write(name: str, content: Any) -> Path:
            return self._run.save_checkpoint(name, content, step=step, metrics=metrics, **meta)

        path = write(name, encode_table(self._make_checkpoint(learner)))
        write(self._prefix + LAST, lambda target: _link_or_copy(path, target))
        score = (progress.success_rate, progress.mean_return)
        if self._best is None or score >= self._best:
            self._best = score
            write(self._prefix + BEST, lambda target: _link_or_copy(path, target))
        self._last_saved_step = step
        self._rotate(path)
        return path

    def _make_checkpoint(self, learner: TableLearner) -> TableCheckpoint:
        progress, method = learner.progress, learner.method
        return TableCheckpoint(
            algo=learner.settings.algo,
            parameters=asdict(learner.settings),
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
            tries=method.visits,
        )

    def _rotate(self, path: Path) -> None:
        self._saved_paths.append(path)
        while len(self._saved_paths) > self._keep:
            self._saved_paths.pop(0).unlink(missing_ok=True)


def _link_or_copy(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(source, target)
