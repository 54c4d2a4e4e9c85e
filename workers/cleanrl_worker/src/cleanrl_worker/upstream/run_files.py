"""Finds what a script has left in the run's directory, and announces each thing once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mosaic_worker import Emitter

_WANDB_RUN = re.compile(r"(?P<offline>offline-)?run-\d+_\d+-(?P<id>.+)")
_MODEL = "*.cleanrl_model"
_VIDEO = "*.mp4"
HYPERPARAMETERS = "reports/hyperparameters.md"


class RunFiles:
    """Videos, models, event files and W&B folders of one run."""

    def __init__(self, directory: Path, emitter: Emitter, wandb_id: str | None = None) -> None:
        """`wandb_id` is what the environment names the run at W&B; an address may abridge it."""
        self._wandb_id = wandb_id or None
        self._directory = directory
        self._emitter = emitter
        self._announced: set[str] = set()
        self._sizes: dict[Path, int] = {}

    def announce(self, event_files: Sequence[Path], *, is_over: bool = False) -> None:
        """Whatever is new. While the script runs, a file that still grows has to wait."""
        for folder in dict.fromkeys(path.parent for path in event_files):
            self._say("tensorboard", folder)
        for path in self._settled("videos", _VIDEO, is_over):
            self._say("video", path, **_sidecar(path))
        for path in self._settled("runs", _MODEL, is_over):
            self._say("checkpoint", path, framework="torch", source="script")
        for folder in sorted((self._directory / "wandb").glob("*run-*")):
            run = _WANDB_RUN.fullmatch(folder.name)
            if run and not folder.is_symlink():
                self._say("wandb", folder, id=run["id"], offline=bool(run["offline"]))

    def saved_model(self, path: str) -> None:
        """The script says that it has saved a model."""
        named = self._directory / path
        if named.is_file():
            self._say("checkpoint", named, framework="torch", source="script")

    def tracked_at(self, url: str, run_id: str) -> None:
        if url not in self._announced:
            self._announced.add(url)
            self._emitter.artifact("wandb", url=url, meta={"id": self._wandb_id or run_id})

    def keep_table(self, text: str) -> None:
        """The table of hyperparameters, as the script wrote it."""
        path = self._directory / HYPERPARAMETERS
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
        self._say("report", path, title="Hyperparameters of the script")

    def _settled(self, folder: str, pattern: str, is_over: bool) -> Iterator[Path]:
        for path in sorted((self._directory / folder).rglob(pattern)):
            try:
                size = path.stat().st_size
            except OSError:
                continue
            before, self._sizes[path] = self._sizes.get(path), size
            if size and (is_over or size == before):
                yield path

    def _say(self, kind: str, path: Path, **meta: Any) -> None:
        try:
            relative = path.resolve().relative_to(self._directory.resolve()).as_posix()
        except ValueError:
            return  # outside of the run's directory, where nothing is kept
        if relative not in self._announced:
            self._announced.add(relative)
            self._emitter.artifact(kind, relative, meta=meta or None)


def _sidecar(video: Path) -> dict[str, Any]:
    """What the recorder wrote beside a video."""
    for beside in (video.with_suffix(".meta.json"), video.with_suffix(".json")):
        try:
            content = json.loads(beside.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        return content if isinstance(content, dict) else {}
    return {}
