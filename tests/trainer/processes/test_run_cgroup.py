"""The control group of a run; `None` if the system does not support one."""

from pathlib import Path

import pytest

from mosaic.trainer.processes import run_cgroup


def _fake_cgroups(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_group: str, mounts: str | None = None
) -> Path:
    """Replace the system's cgroup tree with a directory and return its root."""
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


def test_groups_in_a_container_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Groups are created in the root and removed when they are empty."""
    root = _fake_cgroups(monkeypatch, tmp_path, "/")
    group = run_cgroup.create_group("run")
    assert group == root / "mosaic-run"
    run_cgroup.remove_group(group)
    assert not group.exists()


def test_stale_groups_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Empty groups are removed unless they are new; groups in use are not."""
    root = _fake_cgroups(monkeypatch, tmp_path, "/")
    (root / "mosaic-empty").mkdir()
    (root / "mosaic-used").mkdir()
    (root / "mosaic-used" / "process").touch()
    run_cgroup.create_group("first")
    assert (root / "mosaic-empty").exists()
    monkeypatch.setattr(run_cgroup, "_MIN_AGE_S", -1.0)
    run_cgroup.create_group("second")
    assert {path.name for path in root.glob("mosaic-*")} == {"mosaic-used", "mosaic-second"}


def test_a_group_that_is_not_delegated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It belongs to the service manager, so no group is created in it."""
    root = _fake_cgroups(monkeypatch, tmp_path, "/user.slice/session.scope")
    assert run_cgroup.create_group("run") is None
    assert not list(root.rglob("mosaic-*"))


def test_a_system_without_groups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The system supports cgroup version 1 only."""
    _fake_cgroups(monkeypatch, tmp_path, "/", mounts="30 25 0:26 / /sys rw - sysfs sysfs rw\n")
    assert run_cgroup.create_group("run") is None


def test_processes_in_nested_groups(tmp_path: Path) -> None:
    """Processes in groups that a worker created are included."""
    for folder, pids in ((tmp_path, "1\n2\n"), (tmp_path / "inner", "3\n")):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.procs").write_text(pids)
    assert run_cgroup.pids_in_group(tmp_path) == {1, 2, 3}
    assert run_cgroup.pids_in_group(tmp_path / "missing") == set()
