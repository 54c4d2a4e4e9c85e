"""Which checkpoints there are: those on schedule, the best, and the last.

`step-N.pt` is written every so many steps, and the newest few are kept; `best.pt` and `last.pt` are
further names of one of them, so that they take no room of their own.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from typing import TYPE_CHECKING, Any

from cleanrl_worker.session.checkpoint_file import not_finite, write_checkpoint
from cleanrl_worker.session.outlet import Saved
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.outlet import Outlet

LAST, BEST = "last.pt", "best.pt"
_FEW_EPISODES = 10
"""The mean of fewer is luck, and does not beat an earlier best."""


class CheckpointKeeper:
    """Writes checkpoints through an outlet, and remembers the last good one."""

    def __init__(self, outlet: Outlet, *, every: int, keep: int) -> None:
        """`every` steps; 0: only when told to. At most `keep` of those on schedule stay."""
        self._outlet = outlet
        self._every = every
        self._keep = keep
        self._scheduled: list[Path] = []
        self.best_return: float | None = None
        """The highest mean return of those saved."""
        self.next_step = every or None
        """Where the next one on schedule is due; None: nowhere."""
        self.last_good = ""
        """For people: what can be gone on from."""

    def begin_at(self, step: int) -> None:
        """The run goes on from there; the schedule is that of an uninterrupted one."""
        if self._every:
            self.next_step = (step // self._every + 1) * self._every

    def save(self, checkpoint: Checkpoint) -> None:
        """Raises `WorkerError` when the policy holds what is no number."""
        step = checkpoint.global_step
        self.begin_at(step)
        broken = not_finite(checkpoint.policy)
        if broken:
            raise WorkerError(
                f"At step {step} the network's `{broken}` holds NaN or infinity.",
                remedy=self.remedy(),
            )
        mean_return, best = checkpoint.mean_return, self.best_return
        metrics = {} if mean_return is None else {"episodic_return": mean_return}
        is_telling = len(checkpoint.returns) >= _FEW_EPISODES or best is None
        is_best = mean_return is not None and is_telling and (best is None or mean_return >= best)
        self.best_return = mean_return if is_best else best
        checkpoint = dataclasses.replace(checkpoint, best_return=self.best_return)

        def told(name: str, write: Any) -> Path:
            meta = {
                "algo": checkpoint.algo,
                "env_id": checkpoint.env_id,
                "observation_space": _in_short(checkpoint.observation_space),
                "action_space": _in_short(checkpoint.action_space),
            }
            return self._outlet.save(Saved(name, write, step, metrics, meta))

        written = told(f"step-{step}.pt", lambda path: write_checkpoint(checkpoint, path))
        told(LAST, lambda path: _another_name(written, path))
        if is_best:
            told(BEST, lambda path: _another_name(written, path))
        self.last_good = f"checkpoints/{written.name}"
        self._forget_oldest(written)

    def remedy(self) -> str:
        """What to do when training cannot go on."""
        smaller = "Choose a smaller learning rate"
        if not self.last_good:
            return f"{smaller}; no checkpoint was saved before."
        return f"{smaller}; the last good checkpoint is {self.last_good}."

    def _forget_oldest(self, written: Path) -> None:
        self._scheduled = [path for path in self._scheduled if path != written] + [written]
        while len(self._scheduled) > self._keep:
            self._scheduled.pop(0).unlink(missing_ok=True)


def _in_short(space: dict[str, Any]) -> dict[str, Any]:
    """Without the bounds, which may be many and infinite; the file has them."""
    return {name: space[name] for name in ("type", "n", "shape") if name in space}


def _another_name(written: Path, path: Path) -> None:
    path.unlink(missing_ok=True)
    try:
        os.link(written, path)
    except OSError:  # a file system without links
        shutil.copyfile(written, path)
