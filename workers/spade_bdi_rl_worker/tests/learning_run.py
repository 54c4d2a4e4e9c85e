"""A run without a process: telemetry in a file, and a learner without an agent."""

from __future__ import annotations

import json
import os
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from mosaic_worker.checkpoint import save_checkpoint
from mosaic_worker.emitter import Emitter
from mosaic_worker.recording.recorder import EpisodeRecorder
from mosaic_worker.run_config import resolve
from mosaic_worker.tracking.trackers import make_trackers
from spade_bdi_rl_worker.descriptor import describe
from spade_bdi_rl_worker.learning.learner_factory import make_learner
from spade_bdi_rl_worker.settings import apply_presets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mosaic_worker import Run
    from mosaic_worker.tracking.trackers import Trackers
    from spade_bdi_rl_worker.learning.learner import TableLearner
    from spade_bdi_rl_worker.telemetry.sink import BdiUpdate


def always() -> bool:
    return True


class ListSink:
    """A `TelemetrySink` that stores everything."""

    def __init__(self) -> None:
        self.updates: list[BdiUpdate] = []
        self.messages: list[str] = []
        self.rows: list[tuple[int, dict[str, float]]] = []
        self.agents: list[str | None] = []

    def report_bdi(self, update: BdiUpdate) -> None:
        self.updates.append(update)

    def log(self, level: str, code: str, message: str, **fields: Any) -> None:  # noqa: ARG002
        self.messages.append(message)

    def set_step_annotator(self, agent_id: str | None, annotate: Any) -> None:
        pass

    def report_metrics(
        self, values: Mapping[str, float], step: int, agent_id: str | None = None
    ) -> None:
        self.rows.append((step, dict(values)))
        self.agents.append(agent_id)


class LearningRun:
    """The members of a run that a learner uses. `config` is a TrainRunConfig.

    Call `finish` at the end, or `close` if there is no learner. `lines` works after both.
    """

    def __init__(
        self, folder: Path, config: Mapping[str, Any], checkpoint: Path | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.directory = folder
        requested = resolve({"algo": "q_learning", **config}, describe())
        self.config = apply_presets(requested, is_warm_start=checkpoint is not None)
        self.checkpoint = checkpoint
        self.heartbeat = SimpleNamespace(global_step=0)
        self.telemetry = folder / "telemetry.jsonl"
        self._fd = os.open(self.telemetry, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self.emitter = Emitter(fd=self._fd)
        self._recorders: dict[str | None, EpisodeRecorder] = {}
        self.sink = ListSink()

    def recorder_for(self, agent_id: str | None) -> EpisodeRecorder:
        if agent_id not in self._recorders:
            self._recorders[agent_id] = EpisodeRecorder(
                self.emitter, detail=self.config.step_detail, agent_id=agent_id
            )
        return self._recorders[agent_id]

    @cached_property
    def trackers(self) -> Trackers:
        return make_trackers(cast("Run", self))

    def save_checkpoint(self, name: str, content: Any, **fields: Any) -> Path:
        return save_checkpoint(self.emitter, self.directory, name, content, **fields)

    def learner(self) -> TableLearner:
        return make_learner(cast("Run", self), self.sink)

    def finish(self, learner: TableLearner) -> None:
        learner.close()
        for recorder in self._recorders.values():
            recorder.close()
        self.close()

    def close(self) -> None:
        self.emitter.writer.close()
        os.close(self._fd)

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """Return the telemetry of that type, so far."""
        self.emitter.flush()
        lines = self.telemetry.read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if line["type"] == kind]
