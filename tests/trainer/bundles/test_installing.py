"""Installation of bundles with real pip into real environments, including failures."""

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
from tests.trainer.bundles.conftest import Sandbox, eventually
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


def test_a_worker_gets_its_packages(sandbox: Sandbox) -> None:
    """Its interpreter has the required packages, and the bundle use records them."""
    sandbox.add_worker(requires="ice==1.0  # cold\nmosaic-worker\n")
    assert sandbox.store.lookup("lake", None) is None
    prepared = sandbox.store.prepare("lake", None, on_progress=sandbox.progress.append)
    assert import_in(prepared.python, "ice") == "1.0"
    assert prepared.use.packages == {"ice": "1.0"}
    assert prepared.use.path == f"trainer/venvs/lake-{prepared.use.hash}"
    assert sandbox.phases == ["preparing", "downloading", "installing", "checking"]
    assert max(progress.total for progress in sandbox.progress) == 1
    assert sandbox.store.lookup("lake", None) == prepared
    assert sandbox.another_store().lookup("lake", None) == prepared
    assert sandbox.environments() == [f"lake-{prepared.use.hash}"]


def test_a_worker_without_packages_starts(sandbox: Sandbox) -> None:
    """With an empty requirements file, the environment runs the worker's code."""
    sandbox.add_worker()
    prepared = sandbox.store.prepare("lake", None)
    run = subprocess.run(
        prepared.command(Path("config.json")),
        capture_output=True,
        check=True,
        text=True,
        env=prepared.environment(),
    )
    assert run.stdout == "lake runs with ['--config', 'config.json']\n"


def test_a_failed_installation_leaves_no_environment(sandbox: Sandbox) -> None:
    """The error has pip's message; the next attempt works; a failed repair changes nothing."""
    sandbox.add_worker(requires="ice==1.0\nsnow==9\n")
    with pytest.raises(UserError, match="there is no snow==9") as failure:
        sandbox.store.prepare("lake", None)
    log = sandbox.home.logs / "bundle-lake.log"
    assert failure.value.code == "T322"
    assert "ERROR: No matching distribution found for snow==9" in failure.value.message
    assert str(log) in failure.value.remedy
    assert "snow" in log.read_text()
    assert sandbox.environments() == []
    assert [info.state for info in sandbox.store.list({})] == ["missing"]
    write_wheel(sandbox.wheels, "snow", "9")
    prepared = sandbox.store.prepare("lake", None)
    assert prepared.use.packages == {"ice": "1.0", "snow": "9"}
    (sandbox.wheels / "snow-9-py3-none-any.whl").unlink()
    with pytest.raises(UserError, match="there is no snow"):
        sandbox.store.install("lake", repair=True)
    assert sandbox.store.lookup("lake", None) == prepared
    assert import_in(prepared.python, "snow") == "9"
    assert sandbox.environments() == [prepared.python.parents[1].name]


def test_installation_without_network_reports_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unreachable package index is reported with a remedy."""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    sandbox.add_worker(requires="snow==9\n")
    with pytest.raises(UserError, match="snow==9 could not be downloaded") as failure:
        sandbox.store.prepare("lake", None)
    assert failure.value.code == "T323"
    assert "PIP_FIND_LINKS" in failure.value.remedy


def test_a_full_disk_is_reported(sandbox: Sandbox) -> None:
    """The error has the reason, and no files are left."""
    sandbox.add_worker(requires="ice\n")
    sandbox.home.logs.mkdir(parents=True)
    (sandbox.home.logs / "bundle-lake.log").symlink_to("/dev/full")
    with pytest.raises(UserError, match="No space left") as failure:
        sandbox.store.prepare("lake", None)
    assert failure.value.code == "T324"
    assert sandbox.environments() == []


def test_a_cancelled_installation_leaves_no_environment(
    sandbox: Sandbox, slow: SlowPackage
) -> None:
    """Cancelling kills pip and its builds."""
    sandbox.add_worker(requires=f"{slow.path}\n")
    cancelled = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        installing = pool.submit(sandbox.store.prepare, "lake", None, cancelled=cancelled)
        eventually(lambda: slow.builders or installing.done())
        assert [info.state for info in sandbox.store.list({})] == ["installing"]
        cancelled.set()
        with pytest.raises(UserError, match="The installation was cancelled") as caught:
            installing.result()
        assert caught.value.code == "T325"
    eventually(lambda: not is_running(slow.builders[0]))
    assert sandbox.environments() == []


def test_concurrent_installations_share_one_bundle(sandbox: Sandbox, slow: SlowPackage) -> None:
    """One installs, the other reports that it waits, and both get the same environment."""
    sandbox.add_worker(requires=f"{slow.path}\n")
    is_waiting = threading.Event()

    def wait_for_message(progress: InstallProgress) -> None:
        sandbox.progress.append(progress)
        if progress.phase == "waiting" and "Another run" in progress.message:
            is_waiting.set()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sandbox.store.prepare, "lake", None)
        eventually(lambda: slow.builders or first.done())
        other = sandbox.another_store()
        second = pool.submit(other.prepare, "lake", None, on_progress=wait_for_message)
        eventually(lambda: is_waiting.is_set() or second.done())
        slow.finish_build()
        assert first.result() == second.result()
    assert sandbox.phases == ["waiting"]
    assert len(slow.builders) == 1


def test_an_installation_after_a_killed_one(sandbox: Sandbox, slow: SlowPackage) -> None:
    """After SIGKILL the next one kills the orphaned pip, cleans up and installs."""
    sandbox.add_worker(requires=f"{slow.path}\n")
    installer = subprocess.Popen(
        [sys.executable, "-m", "tests.trainer.bundles.install_in_process", sandbox.folder],
        cwd=REPOSITORY,
    )
    with installer:
        eventually(lambda: slow.builders or installer.poll() is not None)
        installer.kill()
    (orphan,) = slow.builders
    assert is_running(orphan)
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(sandbox.store.prepare, "lake", None)
        eventually(lambda: not is_running(orphan))
        slow.finish_build()
        prepared = again.result()
    assert import_in(prepared.python, "slow") == "1.0"
    assert sandbox.environments() == [prepared.python.parents[1].name]


def test_extras_have_their_own_environment(sandbox: Sandbox) -> None:
    """A run may select existing extras; the error for an unknown one lists them."""
    sandbox.add_worker()
    (sandbox.requirements / "lake.winter.txt").write_text("ice\n")
    plain = sandbox.store.prepare("lake", None)
    winter = sandbox.store.prepare("lake", BundleConfig(name="lake", extras=("winter",)))
    assert (plain.use.packages, winter.use.packages) == ({}, {"ice": "1.0"})
    assert winter.use.extras == ("winter",)
    states = {(info.extras, info.state) for info in sandbox.store.list({})}
    assert states == {((), "ready"), (("winter",), "ready")}
    with pytest.raises(UserError, match="winter") as failure:
        sandbox.store.install("lake", ["summer"])
    assert failure.value.code == "T321"


def test_an_environment_with_more_extras_is_reused(sandbox: Sandbox) -> None:
    """No second environment is needed for fewer extras."""
    sandbox.add_worker()
    (sandbox.requirements / "lake.winter.txt").write_text("ice\n")
    winter = sandbox.store.install("lake", ["winter"])
    assert sandbox.store.is_ready("lake")
    assert sandbox.store.prepare("lake", None).use.hash == winter.hash
    assert sandbox.store.install("lake").hash == winter.hash
    assert [(info.extras, info.state) for info in sandbox.store.list({})] == [
        (("winter",), "ready")
    ]
    (sandbox.requirements / "lake.winter.txt").write_text("")
    assert sandbox.store.lookup("lake", None) is None  # the requirements have changed


def test_requirements_beside_a_worker(sandbox: Sandbox) -> None:
    """Requirements in the worker's folder are used, and its modules do not affect pip."""
    package = sandbox.add_worker()
    (sandbox.requirements / "lake.txt").unlink()
    folder = package.parents[1]
    (folder / "requirements.txt").write_text("-r more.txt\n")
    (folder / "more.txt").write_text("ice\n")
    (folder / "logging.py").write_text("raise SystemExit('not the logging module')")
    assert sandbox.store.prepare("lake", None).use.packages == {"ice": "1.0"}


def test_without_pip_the_environment_gets_one(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bundles can be installed even if MOSAIC was installed without pip."""
    monkeypatch.setattr(pip, "find_spec", lambda _name: None)
    sandbox.add_worker(requires="ice\n")
    prepared = sandbox.store.prepare("lake", None)
    assert import_in(prepared.python, "ice") == "1.0"
