"""The control group (cgroup v2) of a run's processes, where the system delegates one to the daemon.

A child stays in it when it starts a session, clears its environment or loses its parent, so that a
later daemon finds it too. Only a process that moves itself to another group on purpose leaves it.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

_OWN_GROUP = Path("/proc/self/cgroup")
_MOUNTS = Path("/proc/self/mountinfo")
_PREFIX = "mosaic-"
_MIN_AGE_S = 120.0
_DELEGATED = "user.delegate"
"""Set by systemd on a group that the processes in it may manage."""


def create_group(run_id: str) -> Path | None:
    """A new group below that of this process; None where that is not possible or not allowed."""
    parent = _find_own_group()
    if parent is None:
        return None
    group = parent / f"{_PREFIX}{run_id}"
    _remove_leftovers(parent)
    try:
        group.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return group


def pids_in_group(group: Path) -> set[int]:
    """The processes in the group and in groups below it; empty if it is gone. Raises `OSError`."""
    pids: set[int] = set()
    for folder, _, _ in os.walk(group):
        with suppress(FileNotFoundError):
            text = Path(folder, "cgroup.procs").read_text()
            pids.update(int(pid) for pid in text.split())
    return pids


def remove_group(group: Path) -> None:
    """Remove an empty group and those below it; one that is still in use stays."""
    for folder, _, _ in os.walk(group, topdown=False):
        with suppress(OSError):
            Path(folder).rmdir()


def _remove_leftovers(parent: Path) -> None:
    """Remove empty groups of runs whose supervisor and daemon were killed."""
    for group in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # in use, or removed in the meantime
            # A new group is empty until its worker has joined it.
            if time.time() - group.stat().st_ctime > _MIN_AGE_S:
                group.rmdir()


def _find_own_group() -> Path | None:
    """The folder of this process's group, if groups may be created in it."""
    try:
        path = next(
            line.removeprefix("0::")
            for line in _OWN_GROUP.read_text().splitlines()
            if line.startswith("0::/")
        )
        mount = next(
            line.split()[4] for line in _MOUNTS.read_text().splitlines() if " - cgroup2 " in line
        )
    except (OSError, StopIteration):
        return None
    folder = Path(f"{mount}/{path}")
    # The root of a container is its own; any other group must be delegated.
    if path != "/" and not _is_delegated(folder):
        return None
    return folder if os.access(folder / "cgroup.procs", os.W_OK) else None


def _is_delegated(folder: Path) -> bool:
    try:
        return os.getxattr(folder, _DELEGATED) == b"1"
    except OSError:
        return False
