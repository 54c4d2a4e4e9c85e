"""Which code ran: the script's hash, and the commit of the checkout that it lies in."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cleanrl_worker.upstream.script_location import ScriptLocation

REPORT = "reports/upstream.json"
_GIT_SECONDS = 10.0


class Provenance(NamedTuple):
    """Of a script. `commit` is None where no checkout holds it, or there is no git."""

    path: str
    origin: str
    sha256: str
    commit: str | None
    is_dirty: bool | None

    def sentence(self) -> str:
        if self.commit is None:
            return "It is in no git checkout, so no commit is known."
        changed = ", with changes that are not committed" if self.is_dirty else ""
        return f"Its checkout is at commit {self.commit}{changed}."


def provenance(location: ScriptLocation) -> Provenance:
    folder = location.path.parent
    # Whatever repository lies around it says nothing about a file that is none of its own.
    is_tracked = _git(folder, "ls-files", "--error-unmatch", "--", location.path.name) is not None
    commit = _git(folder, "rev-parse", "HEAD") if is_tracked else None
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no") if commit else None
    digest = hashlib.sha256(location.path.read_bytes()).hexdigest()
    dirty = None if changes is None else bool(changes)
    return Provenance(str(location.path), location.origin, digest, commit or None, dirty)


def write_report(directory: Path, source: Provenance, argv: Sequence[str]) -> dict[str, Any]:
    """Leaves the report in the run's directory, and returns what it says."""
    content = {**source._asdict(), "argv": list(argv)}
    path = directory / REPORT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return content


def _git(folder: Path, *words: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if answer.returncode else answer.stdout.decode("utf-8", "replace").strip()
