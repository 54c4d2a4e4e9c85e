"""Workers describe themselves in isolated processes, and every failure is reported."""

import os
import time
from pathlib import Path

import msgspec
import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.process_identity import live_processes
from mosaic.trainer.workers.found_worker import sdk_sources
from mosaic.trainer.workers.interpreters import Interpreters
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_description import run_describe
from mosaic.trainer.workers.worker_infos import worker_info, worker_infos
from tests.trainer.workers.worker_files import (
    DESCRIBES_ITSELF,
    install_distribution,
    manifest_text,
    write_worker,
)

pytestmark = pytest.mark.process


class Clock:
    """Advances only when set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class EmptyBundleStore:
    """A bundle store without installed bundles."""

    def is_ready(self, worker_id: str, script: str | None = None) -> bool:
        return script is None and worker_id == "without_bundle"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def catalog(tmp_path: Path, clock: Clock) -> WorkerCatalog:
    return WorkerCatalog((tmp_path,), search_path=[], clock=clock)


def test_the_echo_worker_describes_itself() -> None:
    """The descriptor of the documented example is valid."""
    descriptor = WorkerCatalog(search_path=[]).describe("echo_worker")
    assert descriptor.algorithm("echo") is not None


def test_an_installed_worker_describes_itself_without_other_packages(tmp_path: Path) -> None:
    """The worker of a distribution can import its own code and the SDK only."""
    site = tmp_path / "site"
    install_distribution(site, "helper", {"helper.py": ""})
    main = DESCRIBES_ITSELF.format(worker_id="lake_worker")
    files = {
        "acme/lake/worker.toml": manifest_text("lake_worker", "acme.lake"),
        "acme/lake/__init__.py": "",
        "acme/lake/__main__.py": f"import acme.lake\n{main}",
    }
    install_distribution(site, "lake", files)
    catalog = WorkerCatalog((), search_path=[str(site)])
    assert catalog.describe("lake_worker").version == "7.0"
    (site / "acme/lake/__main__.py").write_text(f"import helper\n{main}")
    with pytest.raises(UserError, match="helper"):
        catalog.describe("lake_worker")


def test_descriptions_are_cached_by_content(tmp_path: Path, catalog: WorkerCatalog) -> None:
    """An edited worker is described again."""
    marker = tmp_path / "marker"
    main = DESCRIBES_ITSELF.format(worker_id="lake_worker")
    count = f"open({str(marker)!r}, 'a').write('x')\n"
    package = write_worker(tmp_path, "lake_worker", main=count + main)
    assert catalog.describe("lake_worker") is catalog.describe("lake_worker")
    assert marker.read_text() == "x"
    (package / "descriptor.py").write_text("# new")
    catalog.describe("lake_worker")
    assert marker.read_text() == "xx"


def test_a_failure_is_cached_temporarily(
    tmp_path: Path, catalog: WorkerCatalog, clock: Clock
) -> None:
    """Frequent listings do not start a broken worker each time."""
    marker = tmp_path / "marker"
    write_worker(tmp_path, "bad", main=f"open({str(marker)!r}, 'a').write('x')\n1 / 0")
    for now in (0.0, 1.0, 100.0):
        clock.now = now
        with pytest.raises(UserError, match="ZeroDivisionError"):
            catalog.describe("bad")
    assert marker.read_text() == "xx"


def test_a_worker_gets_no_secrets_and_no_files(
    tmp_path: Path, catalog: WorkerCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """User secrets are not in its environment, and its working directory is empty."""
    monkeypatch.setenv("WANDB_API_KEY", "hidden")
    check = "import os\nassert 'WANDB_API_KEY' not in os.environ and os.listdir() == []\n"
    write_worker(
        tmp_path, "lake_worker", main=check + DESCRIBES_ITSELF.format(worker_id="lake_worker")
    )
    assert catalog.describe("lake_worker").worker == "lake_worker"


@pytest.mark.parametrize(
    ("main", "problem", "remedy"),
    [
        ("import gymnasium", "No module named 'gymnasium'", "inside `work`"),
        ("print('hello')", "descriptor", ""),
        ('print(\'{"worker": "other_worker"}\')', "other_worker", "same id"),
        ("while True: print('x' * 10000)", "more than the maximum", "only the descriptor"),
        ("import sys; sys.exit(3)", "exit code 3", "by hand"),
    ],
)
def test_an_invalid_description(
    tmp_path: Path, catalog: WorkerCatalog, main: str, problem: str, remedy: str
) -> None:
    """Each failure has a message and a remedy."""
    write_worker(tmp_path, "bad_worker", main=main)
    with pytest.raises(UserError) as failure:
        catalog.describe("bad_worker")
    assert problem in failure.value.message
    assert failure.value.remedy
    assert remedy in failure.value.remedy
    assert failure.value.code == "T133"


def test_a_worker_that_hangs_is_killed_with_its_children(
    tmp_path: Path, catalog: WorkerCatalog
) -> None:
    """After the timeout no process of it is left."""
    pids = tmp_path / "pids"
    hang = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(600)\n"
    )
    write_worker(tmp_path, "slow_worker", main=hang)
    worker = catalog.find("slow_worker")
    with pytest.raises(UserError, match="no answer within 3 s"):
        run_describe(worker, sdk_sources(), Interpreters().own(), limit_s=3)
    started = {int(pid) for pid in pids.read_text().split()}
    deadline = time.monotonic() + 30
    while started & {process.pid for process in live_processes()}:
        assert time.monotonic() < deadline, "its processes are still alive"


def test_a_child_that_keeps_the_pipe_open_causes_no_delay(
    tmp_path: Path, catalog: WorkerCatalog
) -> None:
    """The description is used as soon as the worker itself has exited."""
    leaves_child = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    )
    main = leaves_child + DESCRIBES_ITSELF.format(worker_id="lake_worker")
    write_worker(tmp_path, "lake_worker", main=main)
    assert catalog.describe("lake_worker").worker == "lake_worker"


def test_valid_and_broken_workers_are_listed(
    tmp_path: Path, catalog: WorkerCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every worker is listed: ready, not installed, or with its problem."""
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    write_worker(tmp_path, "without_bundle")
    write_worker(tmp_path, "with_bundle", bundle="big")
    write_worker(tmp_path, "broken_descriptor", main="print('{}')")
    write_worker(tmp_path, "too_new", python=">=3.99")
    write_worker(tmp_path, "bad_toml")
    (tmp_path / "bad_toml" / "worker.toml").write_text("id = ")
    infos = {info.worker_id: info for info in worker_infos(catalog, EmptyBundleStore())}
    assert list(infos) == sorted(infos)
    assert len(infos) == 5
    good = infos["without_bundle"]
    assert (good.ready, good.problem, good.version) == (True, "", "7.0")
    assert good.descriptor_json is not None
    assert msgspec.json.decode(good.descriptor_json)["modes"] == ["train"]
    assert (infos["with_bundle"].ready, infos["with_bundle"].bundle) == (False, "big")
    for name in ("broken_descriptor", "too_new", "bad_toml"):
        assert not infos[name].ready
        assert infos[name].problem
        assert infos[name].remedy
    assert ">=3.99" in infos["too_new"].problem
    assert worker_info("bad_toml", catalog, EmptyBundleStore()) == infos["bad_toml"]


def test_another_interpreter_is_found_and_broken_ones_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that needs another Python version gets a working interpreter."""
    programs = tmp_path / "bin"
    programs.mkdir()
    answer = {
        "path": "/somewhere/python3.98",
        "version": [3, 98, 1],
        "implementation": "cpython",
        "platform": "here",
    }
    for name, text in (
        ("python3.99", "#!/bin/sh\nexit 127\n"),
        ("python3.98", f"#!/bin/sh\necho '{msgspec.json.encode(answer).decode()}'\n"),
    ):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    write_worker(tmp_path, "new_worker", python=">=3.90")
    manifest = WorkerCatalog((tmp_path,), search_path=[]).find("new_worker").manifest
    assert Interpreters().find(manifest).version_text == "3.98.1"
