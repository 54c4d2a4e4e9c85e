"""Bundles are installed by real pip into real environments, whatever happens on the way."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.process_identity import live_processes
from mosaic.contract.readiness import InstallProgress
from mosaic.contract.run_config import BundleConfig
from mosaic.trainer.bundles import pip
from tests.trainer.bundles.conftest import Workshop, eventually
from tests.trainer.bundles.tiny_packages import SlowPackage, write_wheel

pytestmark = pytest.mark.process

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def slow(tmp_path: Path) -> SlowPackage:
    return SlowPackage(tmp_path / "sources")


def import_in(python: Path, module: str) -> str:
    code = f"import {module}; print({module}.VERSION)"
    return subprocess.run(
        [python, "-c", code], capture_output=True, check=True, text=True
    ).stdout.strip()


def is_running(pid: int) -> bool:
    return any(process.pid == pid for process in live_processes())


def test_a_worker_gets_its_packages(workshop: Workshop) -> None:
    """The worker's interpreter has what its requirements name, and the run records which."""
    workshop.add_worker(requires="ice==1.0  # cold\nmosaic-worker\n")
    assert workshop.store.lookup("lake", None) is None
    prepared = workshop.store.prepare("lake", None, on_progress=workshop.progress.append)
    assert import_in(prepared.python, "ice") == "1.0"
    assert prepared.use.packages == {"ice": "1.0"}
    assert prepared.use.path == f"trainer/venvs/lake-{prepared.use.hash}"
    assert workshop.phases == ["preparing", "downloading", "installing", "checking"]
    assert max(progress.total for progress in workshop.progress) == 1
    assert workshop.store.lookup("lake", None) == prepared
    assert workshop.another_store().lookup("lake", None) == prepared
    assert workshop.environments() == [f"lake-{prepared.use.hash}"]


def test_a_worker_without_packages_starts(workshop: Workshop) -> None:
    """An empty requirements file makes an environment that runs the worker's own code."""
    workshop.add_worker()
    prepared = workshop.store.prepare("lake", None)
    run = subprocess.run(
        prepared.command(Path("config.json")),
        capture_output=True,
        check=True,
        text=True,
        env=prepared.environment(),
    )
    assert run.stdout == "lake runs with ['--config', 'config.json']\n"


def test_a_failed_installation_leaves_nothing_half_usable(workshop: Workshop) -> None:
    """pip's words reach the user and the next attempt succeeds; a failed repair changes nothing."""
    workshop.add_worker(requires="ice==1.0\nsnow==9\n")
    with pytest.raises(UserError, match="there is no snow==9") as failure:
        workshop.store.prepare("lake", None)
    log = workshop.home.logs / "bundle-lake.log"
    assert failure.value.code == "T322"
    assert "ERROR: No matching distribution found for snow==9" in failure.value.message
    assert str(log) in failure.value.remedy
    assert "snow" in log.read_text()
    assert workshop.environments() == []
    assert [info.state for info in workshop.store.list({})] == ["missing"]
    write_wheel(workshop.wheels, "snow", "9")
    prepared = workshop.store.prepare("lake", None)
    assert prepared.use.packages == {"ice": "1.0", "snow": "9"}
    (workshop.wheels / "snow-9-py3-none-any.whl").unlink()
    with pytest.raises(UserError, match="there is no snow"):
        workshop.store.install("lake", repair=True)
    assert workshop.store.lookup("lake", None) == prepared
    assert import_in(prepared.python, "snow") == "9"
    assert workshop.environments() == [prepared.python.parents[1].name]


def test_installation_without_network_reports_it(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package index that cannot be reached is named as the reason, with what to do."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    workshop.add_worker(requires="snow==9\n")
    with pytest.raises(UserError, match="snow==9 could not be downloaded") as failure:
        workshop.store.prepare("lake", None)
    assert failure.value.code == "T323"
    assert "PIP_FIND_LINKS" in failure.value.remedy


def test_a_full_disk_is_reported(workshop: Workshop) -> None:
    """No space left is an error with a remedy, and nothing stays behind."""
    workshop.add_worker(requires="ice\n")
    workshop.home.logs.mkdir(parents=True)
    (workshop.home.logs / "bundle-lake.log").symlink_to("/dev/full")
    with pytest.raises(UserError, match="No space left") as failure:
        workshop.store.prepare("lake", None)
    assert failure.value.code == "T324"
    assert workshop.environments() == []


def test_a_cancelled_installation_is_gone(workshop: Workshop, slow: SlowPackage) -> None:
    """Cancelling ends pip and what it builds, and leaves nothing."""
    workshop.add_worker(requires=f"{slow.path}\n")
    cancelled = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        installing = pool.submit(workshop.store.prepare, "lake", None, cancelled=cancelled)
        eventually(lambda: slow.builders or installing.done())
        assert [info.state for info in workshop.store.list({})] == ["installing"]
        cancelled.set()
        with pytest.raises(UserError, match="The installation was cancelled") as caught:
            installing.result()
        assert caught.value.code == "T325"
    eventually(lambda: not is_running(slow.builders[0]))
    assert workshop.environments() == []


def test_concurrent_installations_share_one_bundle(workshop: Workshop, slow: SlowPackage) -> None:
    """One installs, the other waits with progress, and both get the same environment."""
    workshop.add_worker(requires=f"{slow.path}\n")
    messages = threading.Event()

    def wait_for_message(progress: InstallProgress) -> None:
        workshop.progress.append(progress)
        if progress.phase == "waiting" and "Another run" in progress.message:
            messages.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(workshop.store.prepare, "lake", None)
        eventually(lambda: slow.builders or first.done())
        other = workshop.another_store()
        second = pool.submit(other.prepare, "lake", None, on_progress=wait_for_message)
        eventually(lambda: messages.is_set() or second.done())
        slow.let_go()
        assert first.result() == second.result()
    assert workshop.phases == ["waiting"]
    assert len(slow.builders) == 1


def test_a_killed_installer_is_started_over(workshop: Workshop, slow: SlowPackage) -> None:
    """After kill -9 the next one ends the orphaned pip, cleans up and installs."""
    workshop.add_worker(requires=f"{slow.path}\n")
    installer = subprocess.Popen(
        [sys.executable, "-m", "tests.trainer.bundles.install_in_process", workshop.folder],
        cwd=REPOSITORY,
    )
    with installer:
        eventually(lambda: slow.builders or installer.poll() is not None)
        installer.kill()
    (orphan,) = slow.builders
    assert is_running(orphan)
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(workshop.store.prepare, "lake", None)
        eventually(lambda: not is_running(orphan))
        slow.let_go()
        prepared = again.result()
    assert import_in(prepared.python, "slow") == "1.0"
    assert workshop.environments() == [prepared.python.parents[1].name]


def test_extras_make_an_environment_of_their_own(workshop: Workshop) -> None:
    """A run may choose extras that there are; an unknown one is answered with those."""
    workshop.add_worker()
    (workshop.requirements / "lake.winter.txt").write_text("ice\n")
    plain = workshop.store.prepare("lake", None)
    winter = workshop.store.prepare("lake", BundleConfig(name="lake", extras=("winter",)))
    assert (plain.use.packages, winter.use.packages) == ({}, {"ice": "1.0"})
    assert winter.use.extras == ("winter",)
    states = {(info.extras, info.state) for info in workshop.store.list({})}
    assert states == {((), "ready"), (("winter",), "ready")}
    with pytest.raises(UserError, match="winter") as failure:
        workshop.store.install("lake", ["summer"])
    assert failure.value.code == "T321"


def test_an_environment_with_more_extras_serves_too(workshop: Workshop) -> None:
    """With every extra installed, no second environment is needed."""
    workshop.add_worker()
    (workshop.requirements / "lake.winter.txt").write_text("ice\n")
    winter = workshop.store.install("lake", ["winter"])
    assert workshop.store.is_ready("lake")
    assert workshop.store.prepare("lake", None).use.hash == winter.hash
    assert workshop.store.install("lake").hash == winter.hash
    assert [(info.extras, info.state) for info in workshop.store.list({})] == [
        (("winter",), "ready")
    ]
    (workshop.requirements / "lake.winter.txt").write_text("")
    assert workshop.store.lookup("lake", None) is None  # what was installed is not what is asked


def test_requirements_beside_a_worker(workshop: Workshop) -> None:
    """Requirements in the worker's own folder count, and its modules do not confuse pip."""
    package = workshop.add_worker()
    (workshop.requirements / "lake.txt").unlink()
    folder = package.parents[1]
    (folder / "requirements.txt").write_text("-r more.txt\n")
    (folder / "more.txt").write_text("ice\n")
    (folder / "logging.py").write_text("raise SystemExit('not the logging module')")
    assert workshop.store.prepare("lake", None).use.packages == {"ice": "1.0"}


def test_without_a_pip_of_ours_the_environment_gets_one(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A MOSAIC that was installed without pip can still install bundles."""
    monkeypatch.setattr(pip, "find_spec", lambda _name: None)
    workshop.add_worker(requires="ice\n")
    prepared = workshop.store.prepare("lake", None)
    assert import_in(prepared.python, "ice") == "1.0"
