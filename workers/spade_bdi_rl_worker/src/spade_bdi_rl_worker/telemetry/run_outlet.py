"""RunOutlet: what a training tells, as the lines of its run, its event file and its W&B run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker import Run
    from spade_bdi_rl_worker.telemetry.outlet import BdiChange

    Note = Callable[[Mapping[str, Any]], None]

TRAINING_NOTE = "W290"
"""What the training has to say: where it begins from, and what it does without."""


class RunOutlet:
    """Of one run. A change of mind stands on the next step of the agent's learner, if it has one.

    A coach has none: its changes have lines of their own only.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._trackers = run.trackers
        self._notes: dict[str | None, Note] = {}

    def note_on(self, agent_id: str | None, note: Note) -> None:
        self._notes[agent_id] = note

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
        note = self._notes.get(change.agent) or self._notes.get(None)
        if note is not None:
            note(fields)

    def say(self, level: str, code: str, message: str, **fields: Any) -> None:
        self._run.emitter.log(level, code, message, **fields)
        print(f"{level}: {message}", file=sys.stderr, flush=True)  # the run's log

    def figures(self, values: Mapping[str, float], step: int, agent_id: str | None = None) -> None:
        rounded = {name: float(f"{value:.6g}") for name, value in values.items()}
        self._run.emitter.metrics(rounded, step=step, agent_id=agent_id)
        # Trackers know no agents; the trainer writes event files of a run in the same way.
        whose = f"{agent_id}/" if agent_id else ""
        self._trackers.scalars({f"{whose}{name}": each for name, each in rounded.items()}, step)

    def close(self) -> None:
        self._trackers.close()
