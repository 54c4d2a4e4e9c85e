"""Decides which checkpoints are written and kept: scheduled ones, the best and the last.

`step-N.pt` is written on schedule, and only the newest ones are kept. `best.pt` and `last.pt` are
hard links to one of them, so they take no additional disk space.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from typing import TYPE_CHECKING, Any

from cleanrl_worker.session.checkpoint import find_non_finite, write_checkpoint
from cleanrl_worker.session.sink import CheckpointToSave
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.sink import RunSink

LAST, BEST = "last.pt", "best.pt"
_MIN_EPISODES = 10
"""The mean of fewer episodes does not replace an earlier best."""


class CheckpointManager:
    """Writes checkpoints through a sink and remembers the last good one."""

    def __init__(self, sink: RunSink, *, every: int, keep: int) -> None:
        """`every` is in steps; 0: only on request. At most `keep` scheduled ones are kept."""
        self._sink = sink
        self._every = every
        self._keep = keep
        self._scheduled: list[Path] = []
        self.best_return: float | None = None
        """The highest mean return of the saved checkpoints."""
        self.next_step = every or None
        """The step of the next scheduled checkpoint; None without a schedule."""
        self.last_good = ""
        """The path of the last checkpoint, for error messages."""

    def start_at(self, step: int) -> None:
        """Continue from `step` with the schedule of an uninterrupted run."""
        if self._every:
            self.next_step = (step // self._every + 1) * self._every

    def save(self, checkpoint: TrainingCheckpoint) -> None:
        """Raises `WorkerError` if the policy contains NaN or infinity."""
        step = checkpoint.global_step
        self.start_at(step)
        broken = find_non_finite(checkpoint.policy)
        if broken:
            raise WorkerError(
                f"At step {step} the network's `{broken}` contains NaN or infinity.",
                remedy=self.remedy(),
            )
        mean_return, best = checkpoint.mean_return, self.best_return
        metrics = {} if mean_return is None else {"episodic_return": mean_return}
        is_significant = len(checkpoint.returns) >= _MIN_EPISODES or best is None
        is_best = (
            mean_return is not None and is_significant and (best is None or mean_return >= best)
        )
        self.best_return = mean_return if is_best else best
        checkpoint = dataclasses.replace(checkpoint, best_return=self.best_return)

        def save_as(name: str, write: Any) -> Path:
            meta = {
                "algo": checkpoint.algo,
                "env_id": checkpoint.env_id,
                "observation_space": _without_bounds(checkpoint.observation_space),
                "action_space": _without_bounds(checkpoint.action_space),
            }
            return self._sink.save_checkpoint(CheckpointToSave(name, write, step, metrics, meta))

        written = save_as(f"step-{step}.pt", lambda path: write_checkpoint(checkpoint, path))
        save_as(LAST, lambda path: _link(written, path))
        if is_best:
            save_as(BEST, lambda path: _link(written, path))
        self.last_good = f"checkpoints/{written.name}"
        self._delete_oldest(written)

    def remedy(self) -> str:
        """Return what to do if the training diverges."""
        advice = "Choose a smaller learning rate"
        if not self.last_good:
            return f"{advice}; no checkpoint was saved."
        return f"{advice}; the last good checkpoint is {self.last_good}."

    def _delete_oldest(self, written: Path) -> None:
        self._scheduled = [path for path in self._scheduled if path != written] + [written]
        while len(self._scheduled) > self._keep:
            self._scheduled.pop(0).unlink(missing_ok=True)


def _without_bounds(space: dict[str, Any]) -> dict[str, Any]:
    """Omit the bounds, which may be large or infinite; the file includes them."""
    return {name: space[name] for name in ("type", "n", "shape") if name in space}


def _link(written: Path, path: Path) -> None:
    path.unlink(missing_ok=True)
    try:
        os.link(written, path)
    except OSError:  # a file system without hard links
        shutil.copyfile(written, path)
