"""The worker of docs/writing-a-worker.md works as the page describes."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mosaic.contract.decode import decode
from mosaic.contract.descriptor import decode_descriptor
from mosaic.contract.events import Event, tag_of
from mosaic.contract.worker_manifest import read_worker_manifest

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "writing-a-worker.md"
_FILE = re.compile(r'^```\w+ title="(?P<path>[^"]+)"\n(?P<text>.*?)^```$', re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.process


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    """Write the files of the page in its layout."""
    pytest.importorskip("gymnasium", reason="the page's worker learns a Gymnasium environment")
    for block in _FILE.finditer(_PAGE.read_text()):
        path = tmp_path / block["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["text"])
    return tmp_path


def call(worker: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    paths = [str(worker / "src"), str(_ROOT / "worker_sdk" / "src")]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=worker,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_the_pages_worker_trains(worker: Path) -> None:
    """Its lines are events of the protocol, it saves a checkpoint, and it has learned."""
    result = call(worker, "-m", "lake_worker", "--config", "config.json")
    assert result.returncode == 0, result.stderr.decode()
    for line in result.stdout.splitlines():
        decode(line)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [events[0]["type"], events[-1]] == ["hello", {"type": "bye", "outcome": "succeeded"}]
    assert sum(event["type"] == "step" for event in events) == 5000
    saved = [event["path"] for event in events if event["type"] == "artifact"]
    assert len(saved) > 1
    assert all((worker / path).is_file() for path in saved)
    rates = [event["value"] for event in events if event.get("name") == "success_rate"]
    assert rates[-1] > 0.5


def test_the_pages_worker_describes_itself(worker: Path) -> None:
    """Manifest and descriptor are accepted, and describing needs no Gymnasium."""
    result = call(worker, "-X", "importtime", "-m", "lake_worker", "--describe")
    assert result.returncode == 0
    descriptor = decode_descriptor(result.stdout)
    manifest = read_worker_manifest(worker / "worker.toml")
    assert descriptor.worker == manifest.id
    assert manifest.bundle == descriptor.needs.bundle
    assert b"gymnasium" not in result.stderr


def test_the_pages_own_tests_pass(worker: Path) -> None:
    """The test file of the page runs with the command of the page."""
    result = call(worker, "-m", "unittest", "discover", "-s", "tests")
    assert result.returncode == 0, result.stderr.decode()


def test_the_error_message_on_the_page_is_current(worker: Path) -> None:
    """The worker prints the same message."""
    config = json.loads((worker / "config.json").read_text())
    config["params"]["exploration"] = 3.0
    (worker / "config.json").write_text(json.dumps(config))
    result = call(worker, "-m", "lake_worker", "--config", "config.json")
    assert result.returncode == 2
    assert result.stderr.decode().strip() in _PAGE.read_text()


def test_the_pages_project_file_is_complete(worker: Path) -> None:
    """It names the package, the SDK, and ships worker.toml."""
    project = tomllib.loads((worker / "pyproject.toml").read_text())
    assert "mosaic-worker" in project["project"]["dependencies"]
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert all((worker / package).is_dir() for package in wheel["packages"])
    assert all((worker / source).is_file() for source in wheel["force-include"])


def test_every_line_of_the_echo_worker_is_an_event(tmp_path: Path) -> None:
    """MOSAIC can decode every line that the SDK writes."""
    config = {"worker": "echo_worker", "params": {"steps": 50, "episode_length": 7}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    result = call(tmp_path, "-m", "echo_worker", "--config", "config.json")
    events = [decode(line) for line in result.stdout.splitlines()]
    kinds = {tag_of(type(event)) for event in events if isinstance(event, Event)}
    assert all(isinstance(event, Event) for event in events)
    assert kinds >= {"hello", "config", "episode_start", "step", "episode", "metric", "progress"}
    assert kinds >= {"heartbeat", "status", "artifact", "bye"}


def test_the_echo_worker_ships_its_manifest() -> None:
    """Manifest and descriptor are accepted and match."""
    folder = _ROOT / "workers" / "echo_worker"
    manifest = read_worker_manifest(folder / "worker.toml")
    result = call(folder, "-m", manifest.module, "--describe")
    assert decode_descriptor(result.stdout).worker == manifest.id
    assert shutil.which("sleep"), "its `fork` parameter needs the program sleep"
