"""Listener: who is told what tracking did and what it did without. Of a run: its telemetry."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mosaic_worker.run import Run

NOT_TRACKED = "W291"
"""Figures do not reach TensorBoard or Weights & Biases; they are in the telemetry all the same."""


class Listener(Protocol):
    """Called from any thread."""

    directory: Path
    """Everything that is written goes here."""

    @property
    def should_stop(self) -> bool:
        """Whether nobody wants to wait any more."""

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        """A file or folder in the directory is there."""

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        """The run can be seen at an address."""

    def say(self, level: str, message: str) -> None:
        """Words for people."""


class RunListener:
    """Puts what it hears into the run's telemetry, and words into its log too."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.directory = run.directory

    @property
    def should_stop(self) -> bool:
        return self._run.should_stop

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, path, meta=dict(meta) or None)

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, url=url, meta=dict(meta))

    def say(self, level: str, message: str) -> None:
        self._run.emitter.log(level, NOT_TRACKED, message)
        print(f"{level}: {message}", file=sys.stderr, flush=True)
