"""The control group of a run, or none where the system does not allow one."""

from pathlib import Path

import pytest

from mosaic.trainer.processes import run_cgroup


def _pretend(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_group: str, mounts: str | None = None
) -> Path:
    """A tree of files in place of the system's groups; returns its root."""
    root = tmp_path / "cgroup"
    root.mkdir()
    (tmp_path / "own").write_text(f"1:cpu:/\n0::{own_group}\n")
    listed = f"41 31 0:38 / {root} rw - cgroup2 cgroup2 rw\n" if mounts is None else mounts
    (tmp_path / "mounts").write_text(listed)
    monkeypatch.setattr(run_cgroup, "_OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(run_cgroup, "_MOUNTS", tmp_path / "mounts")
    folder = Path(f"{root}/{own_group}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.procs").touch()
    return root


def test_the_root_of_a_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Groups are created in it, and removed when they are empty."""
    root = _pretend(monkeypatch, tmp_path, "/")
    group = run_cgroup.create_group("run")
    assert group == root / "mosaic-run"
    run_cgroup.remove_group(group)
    assert not group.exists()


def test_leftovers_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Empty groups go, unless they are new; groups in use stay."""
    root = _pretend(monkeypatch, tmp_path, "/")
    (root / "mosaic-empty").mkdir()
    (root / "mosaic-used").mkdir()
    (root / "mosaic-used" / "process").touch()
    run_cgroup.create_group("first")
    assert (root / "mosaic-empty").exists()
    monkeypatch.setattr(run_cgroup, "_MIN_AGE_S", -1.0)
    run_cgroup.create_group("second")
    assert {path.name for path in root.glob("mosaic-*")} == {"mosaic-used", "mosaic-second"}


def test_a_group_that_is_not_delegated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It belongs to the system's manager: nothing is created in it."""
    root = _pretend(monkeypatch, tmp_path, "/user.slice/session.scope")
    assert run_cgroup.create_group("run") is None
    assert not list(root.rglob("mosaic-*"))


def test_a_system_without_groups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Version 1 only."""
    _pretend(monkeypatch, tmp_path, "/", mounts="30 25 0:26 / /sys rw - sysfs sysfs rw\n")
    assert run_cgroup.create_group("run") is None


def test_processes_in_groups_below(tmp_path: Path) -> None:
    """A worker may create groups of its own."""
    for folder, pids in ((tmp_path, "1\n2\n"), (tmp_path / "inner", "3\n")):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.procs").write_text(pids)
    assert run_cgroup.pids_in_group(tmp_path) == {1, 2, 3}
    assert run_cgroup.pids_in_group(tmp_path / "gone") == set()
