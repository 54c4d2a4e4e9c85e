"""RunOutlet: what a training tells, as the lines of its run, its event file and its W&B run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.telemetry.trackers import Trackers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker import Run
    from spade_bdi_rl_worker.telemetry.outlet import BdiChange

TRAINING_NOTE = "W290"
"""What the training has to say: where it begins from, and what it does without."""


class RunOutlet:
    """Of one run. `note` puts a change of mind onto the next step; the learner brings it.

    `agent_name` is whose mind that is: teammates have lines of their own only.
    """

    def __init__(self, run: Run, agent_name: str = "") -> None:
        self._run = run
        self._agent_name = agent_name
        self._trackers = Trackers(run, self.say)
        self.note: Callable[[dict[str, Any]], None] = lambda _: None

    def bdi(self, change: BdiChange) -> None:
        """On a line of its own, which says after how many steps; and on the next step."""
        fields = change.as_fields()
        emitter = self._run.emitter
        emitter.emit(
            "bdi",
            step=self._run.heartbeat.global_step,
            agent_id=change.agent or None,
            **fields,
            t=emitter.time(),
        )
        if change.agent == self._agent_name or not self._agent_name:
            self.note(fields)

    def say(self, level: str, code: str, message: str, **fields: Any) -> None:
        self._run.emitter.log(level, code, message, **fields)
        print(f"{level}: {message}", file=sys.stderr, flush=True)  # the run's log

    def figures(self, values: Mapping[str, float], step: int) -> None:
        rounded = {name: float(f"{value:.6g}") for name, value in values.items()}
        self._run.emitter.metrics(rounded, step=step)
        self._trackers.scalars(rounded, step)

    def close(self) -> None:
        self._trackers.close()
