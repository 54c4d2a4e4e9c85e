"""What a worker announced with `artifact` lines, in the order of the artifact scan's questions."""

import posixpath
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from mosaic.contract.events import Artifact, ArtifactKind
from mosaic.contract.text_types import Name, WebAddress
from mosaic.trainer.artifacts.artifact_meta import storable
from mosaic.trainer.artifacts.run_tree import is_presentable

_RUN_ID_IN_ADDRESS = re.compile(r"/runs/([^/?#]+)")


class Announcements:
    """By kind and path; of two that name the same file the later one counts."""

    def __init__(self, announced: Sequence[Artifact]) -> None:
        self._latest: dict[tuple[str, str], Artifact] = {}
        self._wandb: list[Artifact] = []
        for artifact in announced:
            if artifact.kind == "wandb":
                self._wandb.append(artifact)
            path = _clean(artifact.path)
            if path:
                self._latest[artifact.kind, path] = artifact

    def paths(self, kind: ArtifactKind) -> list[str]:
        """Relative to the run's directory; nobody has looked yet whether anything is there."""
        return [path for of_kind, path in self._latest if of_kind == kind]

    def meta(self, kind: ArtifactKind, path: str) -> dict[str, Any]:
        artifact = self._latest.get((kind, path))
        return storable(artifact.meta) if artifact else {}

    def wandb_url(self) -> str | None:
        """The newest address that is one."""
        for artifact in reversed(self._wandb):
            if _fits(artifact.url, WebAddress):
                return artifact.url
        return None

    def wandb_run_id(self) -> str | None:
        """From the address, or from the line's `meta`."""
        for artifact in reversed(self._wandb):
            meta = artifact.meta if isinstance(artifact.meta, dict) else {}
            named = _RUN_ID_IN_ADDRESS.search(artifact.url or "")
            for run_id in (meta.get("run_id"), meta.get("id"), named and named[1]):
                if isinstance(run_id, str) and _fits(run_id, Name):
                    return run_id
        return None


def _clean(path: str | None) -> str:
    """The path without dots; empty when it cannot be one inside the run's directory."""
    if not path or path.startswith("/"):
        return ""
    clean = posixpath.normpath(path)
    return clean if is_presentable(clean) else ""


def _fits(text: str | None, kind: Any) -> bool:
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError:
        return False
    return text is not None
