"""The files of a script's run: artifacts that are announced, and the report on its source code."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cleanrl_worker.upstream.script_location import ScriptLocation
    from mosaic_worker import Emitter

_WANDB_RUN = re.compile(r"(?P<offline>offline-)?run-\d+_\d+-(?P<id>.+)")
_MODEL = "*.cleanrl_model"
_VIDEO = "*.mp4"
HYPERPARAMETERS = "reports/hyperparameters.md"
REPORT = "reports/upstream.json"
_GIT_TIMEOUT_S = 10.0


class RunFiles:
    """Announces the videos, models, event files and W&B folders of one run, each once."""

    def __init__(self, directory: Path, emitter: Emitter, wandb_id: str | None = None) -> None:
        """`wandb_id` is the run id that the user set; the id in a URL may be shortened."""
        self._wandb_id = wandb_id or None
        self._directory = directory
        self._emitter = emitter
        self._announced: set[str] = set()
        self._sizes: dict[Path, int] = {}

    def announce(self, event_files: Sequence[Path], *, is_finished: bool = False) -> None:
        """Announce new files. While the script runs, a file that is still growing is skipped."""
        for folder in dict.fromkeys(path.parent for path in event_files):
            self._announce_path("tensorboard", folder)
        for path in self._complete_files("videos", _VIDEO, is_finished):
            self._announce_path("video", path, **_sidecar(path))
        for path in self._complete_files("runs", _MODEL, is_finished):
            self._announce_path("checkpoint", path, framework="torch", source="script")
        for folder in sorted((self._directory / "wandb").glob("*run-*")):
            run = _WANDB_RUN.fullmatch(folder.name)
            if run and not folder.is_symlink():
                self._announce_path("wandb", folder, id=run["id"], offline=bool(run["offline"]))

    def announce_model(self, path: str) -> None:
        """Announce a model that the script reported as saved."""
        model = self._directory / path
        if model.is_file():
            self._announce_path("checkpoint", model, framework="torch", source="script")

    def announce_wandb(self, url: str, run_id: str) -> None:
        if url not in self._announced:
            self._announced.add(url)
            self._emitter.artifact("wandb", url=url, meta={"id": self._wandb_id or run_id})

    def save_hyperparameters(self, text: str) -> None:
        """Save the script's table of hyperparameters."""
        path = self._directory / HYPERPARAMETERS
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
        self._announce_path("report", path, title="Hyperparameters of the script")

    def _complete_files(self, folder: str, pattern: str, is_finished: bool) -> Iterator[Path]:
        for path in sorted((self._directory / folder).rglob(pattern)):
            try:
                size = path.stat().st_size
            except OSError:
                continue
            before, self._sizes[path] = self._sizes.get(path), size
            if size and (is_finished or size == before):
                yield path

    def _announce_path(self, kind: str, path: Path, **meta: Any) -> None:
        try:
            relative = path.resolve().relative_to(self._directory.resolve()).as_posix()
        except ValueError:
            return  # outside of the run's directory
        if relative not in self._announced:
            self._announced.add(relative)
            self._emitter.artifact(kind, relative, meta=meta or None)


def _sidecar(video: Path) -> dict[str, Any]:
    """Return the metadata that was written next to a video."""
    for path in (video.with_suffix(".meta.json"), video.with_suffix(".json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        return content if isinstance(content, dict) else {}
    return {}


class Provenance(NamedTuple):
    """The code that ran. `commit` is None outside of a git checkout, or without git."""

    path: str
    origin: str
    sha256: str
    commit: str | None
    is_dirty: bool | None

    def sentence(self) -> str:
        if self.commit is None:
            return "It is not in a git checkout, so its commit is unknown."
        changed = ", with uncommitted changes" if self.is_dirty else ""
        return f"Its checkout is at commit {self.commit}{changed}."


def read_provenance(location: ScriptLocation) -> Provenance:
    folder = location.path.parent
    # A surrounding repository is irrelevant if it does not track the file.
    is_tracked = _git(folder, "ls-files", "--error-unmatch", "--", location.path.name) is not None
    commit = _git(folder, "rev-parse", "HEAD") if is_tracked else None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no") if commit else None
    digest = hashlib.sha256(location.path.read_bytes()).hexdigest()
    dirty = None if changes is None else bool(changes)
    return Provenance(str(location.path), location.origin, digest, commit or None, dirty)


def write_report(directory: Path, source: Provenance, argv: Sequence[str]) -> dict[str, Any]:
    """Write the report to the run's directory and return its content."""
    content = {**source._asdict(), "argv": list(argv)}
    path = directory / REPORT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return content


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        result = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if result.returncode else result.stdout.decode("utf-8", "replace").strip()
