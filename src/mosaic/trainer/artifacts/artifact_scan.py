"""The artifact scan: builds a run's manifest from its directory and its `artifact` events.

The daemon scans every few seconds while a run is live, and once more at its end. Events of the
worker add metadata; a file that does not exist is not listed, even if it was announced.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from mosaic.contract.events import Artifact, ArtifactKind
from mosaic.contract.layout import RunDirectory
from mosaic.contract.manifest import MAX_MANIFEST_BYTES, ArtifactFile, ArtifactManifest
from mosaic.contract.text_types import Name, WebAddress
from mosaic.trainer.artifacts.artifact_meta import (
    FOLDER_FILES,
    SIDECAR_ENDING,
    encoded_size,
    read_folder_meta,
    read_meta,
    sidecars_of,
    storable,
)
from mosaic.trainer.artifacts.run_tree import RunTree, ScannedFile, is_temporary, is_valid_path

_RUN_ID_IN_ADDRESS = re.compile(r"/runs/([^/?#]+)")


class Announcements:
    """The worker's `artifact` events by kind and path; the last one for a file counts."""

    def __init__(self, announced: Sequence[Artifact]) -> None:
        self._latest: dict[tuple[str, str], Artifact] = {}
        self._wandb: list[Artifact] = []
        for artifact in announced:
            if artifact.kind == "wandb":
                self._wandb.append(artifact)
            path = _normalize(artifact.path)
            if path:
                self._latest[artifact.kind, path] = artifact

    def paths(self, kind: ArtifactKind) -> list[str]:
        """Relative to the run's directory; the files may not exist."""
        return [path for of_kind, path in self._latest if of_kind == kind]

    def meta(self, kind: ArtifactKind, path: str) -> dict[str, Any]:
        artifact = self._latest.get((kind, path))
        return storable(artifact.meta) if artifact else {}

    def wandb_url(self) -> str | None:
        """The newest valid URL."""
        for artifact in reversed(self._wandb):
            if _is_valid(artifact.url, WebAddress):
                return artifact.url
        return None

    def wandb_run_id(self) -> str | None:
        """From the URL, or from the event's `meta`."""
        for artifact in reversed(self._wandb):
            meta = artifact.meta if isinstance(artifact.meta, dict) else {}
            named = _RUN_ID_IN_ADDRESS.search(artifact.url or "")
            for run_id in (meta.get("run_id"), meta.get("id"), named and named[1]):
                if isinstance(run_id, str) and _is_valid(run_id, Name):
                    return run_id
        return None


def _normalize(path: str | None) -> str:
    """The normalized path; empty when it is not inside the run's directory."""
    if not path or path.startswith("/"):
        return ""
    clean = posixpath.normpath(path)
    return clean if is_valid_path(clean) else ""


def _is_valid(text: str | None, kind: Any) -> bool:
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return False
    return text is not None


MAX_LISTED = 10_000
"""Limit per kind: the newest ones. `meta.not_listed` of the last entry counts the others."""
NOT_LISTED = "not_listed"

_MAX_BYTES = MAX_MANIFEST_BYTES * 3 // 4
_ENTRY_BYTES = 120  # for the keys, numbers and quotes around a path
_EVENT_FILES = "events.out.tfevents."
_VIDEO_ENDINGS = (".mp4", ".webm", ".mkv", ".mov", ".avi", ".gif")
_CLEANRL_MODEL = ".cleanrl_model"
"""CleanRL saves its models beside its event files."""
_WANDB_RUN = re.compile(r"(?P<offline>offline-)?run-\d{8}_\d{6}-(?P<id>.{1,200})")
_STUDIES = ("optuna.db", "cleanrl_hpopt.db")
"""Default files of studies that are not announced."""


def scan_artifacts(run: RunDirectory, announced: Sequence[Artifact]) -> ArtifactManifest:
    """The current manifest. An unchanged directory gives an equal one. Safe from any thread."""
    return _Scan(RunTree(run), Announcements(announced)).manifest()


class _Scan:
    def __init__(self, tree: RunTree, announcements: Announcements) -> None:
        self._tree = tree
        self._announcements = announcements
        self._sidecars: set[str] = set()
        self._bytes_left = _MAX_BYTES

    def manifest(self) -> ArtifactManifest:
        tensorboard = list(self._tree.walk("runs"))
        models = (file for file in tensorboard if file.path.endswith(_CLEANRL_MODEL))
        wandb_id, offline = self._wandb()
        return ArtifactManifest(
            tensorboard_dir=self._tensorboard_dir(tensorboard),
            wandb_run_id=wandb_id,
            wandb_url=self._announcements.wandb_url(),
            wandb_offline_dirs=offline,
            optuna_db_path=self._study(),
            checkpoints=self._files("checkpoint", [*self._units("checkpoint"), *models]),
            videos=self._files("video", self._tree.walk("videos"), _is_video),
            datasets=self._files("dataset", self._units("dataset")),
            reports=self._files("report", self._tree.walk("reports")),
        )

    # TensorBoard, Weights & Biases, Optuna.

    def _tensorboard_dir(self, below_runs: list[ScannedFile]) -> str | None:
        """The folder that contains all event files."""
        folders = _folders_of_events(below_runs)
        if not folders:
            for path in self._announcements.paths("tensorboard"):
                folder = path if self._tree.is_folder(path) else posixpath.dirname(path)
                folders |= _folders_of_events(self._tree.walk(folder or "."))
        presentable = [folder for folder in folders if is_valid_path(folder)]
        return posixpath.commonpath(presentable) or "." if presentable else None

    def _wandb(self) -> tuple[str | None, tuple[str, ...]]:
        """The newest run's id, and every folder of a run that can be synchronised later."""
        roots = {"wandb", *self._announcements.paths("wandb")}
        runs: dict[str, re.Match[str]] = {}
        for root in roots:
            for folder in (root, *self._tree.listing(root).folders):
                run = _WANDB_RUN.fullmatch(posixpath.basename(folder))
                if run and is_valid_path(folder) and self._tree.is_folder(folder):
                    runs[folder] = run
        newest = max(runs.values(), key=lambda run: run[0].removeprefix("offline-"), default=None)
        offline = sorted(folder for folder, run in runs.items() if run["offline"])
        announced = self._announcements.wandb_run_id()
        return announced or (newest["id"] if newest else None), tuple(offline[:MAX_LISTED])

    def _study(self) -> str | None:
        announced = reversed(self._announcements.paths("optuna"))
        return next((path for path in (*announced, *_STUDIES) if self._tree.find(path)), None)

    # Lists of files.

    def _units(self, kind: ArtifactKind) -> Iterator[ScannedFile]:
        """The artifacts in the kind's folder: files, and folders that are one artifact."""
        announced_folders = {*self._announcements.paths(kind)}
        pending = [f"{kind}s"]
        while pending:
            folder = pending.pop()
            files, folders = self._tree.listing(folder)
            below_top = "/" in folder
            if below_top and any(posixpath.basename(file.path) in FOLDER_FILES for file in files):
                yield self._tree.total(folder)
                continue
            yield from files
            for inner in folders:
                if is_temporary(inner):
                    continue
                if inner in announced_folders:
                    yield self._tree.total(inner)
                else:
                    pending.append(inner)

    def _files(
        self,
        kind: ArtifactKind,
        found: Iterable[ScannedFile],
        is_included: Callable[[str], bool] = lambda _: True,
    ) -> tuple[ArtifactFile, ...]:
        """`found` and the announced files, as entries of the manifest."""
        by_path: dict[str, ScannedFile] = {}
        for file in found:
            if file.path.endswith(SIDECAR_ENDING):
                self._sidecars.add(file.path)
            elif not is_temporary(file.path) and is_included(file.path):
                by_path[file.path] = file
        self._add_announced(kind, by_path, is_included)
        listed = [file for file in by_path.values() if is_valid_path(file.path)]
        if len(listed) > MAX_LISTED:
            listed = sorted(listed, key=lambda file: (file.t, file.path))[-MAX_LISTED:]
        entries: list[ArtifactFile] = []
        for file in sorted(listed):
            entry = self._entry(kind, file)
            self._bytes_left -= _ENTRY_BYTES + 2 * len(file.path.encode())
            self._bytes_left -= encoded_size(entry.meta) if entry.meta else 0
            if self._bytes_left < 0:
                break
            entries.append(entry)
        unlisted = len(by_path) - len(entries)
        if unlisted and entries:
            entries[-1].meta[NOT_LISTED] = unlisted
        return tuple(entries)

    def _add_announced(
        self, kind: ArtifactKind, found: dict[str, ScannedFile], is_included: Callable[[str], bool]
    ) -> None:
        folders: list[str] = []
        for path in self._announcements.paths(kind):
            if path in found:
                continue
            file = self._tree.find(path)
            if file:
                found[path] = file
                self._sidecars.update(filter(self._tree.find, sidecars_of(path)))
            elif self._tree.is_folder(path):
                folders.append(path)
        known = _parents(found) if folders else set()
        for path in folders:
            if path in known:
                continue  # its files are listed separately
            if kind == "video":
                files = self._tree.walk(path)
                found.update((file.path, file) for file in files if is_included(file.path))
            else:
                found[path] = self._tree.total(path)

    def _entry(self, kind: ArtifactKind, file: ScannedFile) -> ArtifactFile:
        if file.is_folder:
            meta = read_folder_meta(self._tree.full(file.path))
        else:
            meta = {}
            for sidecar in sidecars_of(file.path):
                if sidecar in self._sidecars:
                    meta |= read_meta(self._tree.full(sidecar))
        meta |= self._announcements.meta(kind, file.path)
        return ArtifactFile(path=file.path, size_bytes=file.size_bytes, t=file.t, meta=meta)


def _is_video(path: str) -> bool:
    return path.lower().endswith(_VIDEO_ENDINGS)


def _parents(paths: Iterable[str]) -> set[str]:
    """All parent folders of the paths, including the run's directory."""
    parents = {"."}
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in parents:
            parents.add(folder)
            folder = posixpath.dirname(folder)
    return parents


def _folders_of_events(files: Iterable[ScannedFile]) -> set[str]:
    return {
        posixpath.dirname(file.path) or "."
        for file in files
        if posixpath.basename(file.path).startswith(_EVENT_FILES)
    }
