"""Code that an imported archive names is not run without the user's consent."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.client import TrainerClient
from mosaic.contract.layout import RunDirectory
from tests.cli.apprentice import WORKER, with_apprentice
from tests.support.daemon import DaemonUnderTest
from tests.support.mosaic_cli import Mosaic

pytestmark = pytest.mark.process

_FOLDER = "files of the archive"


def _import_run(client: TrainerClient, folder: Path, **config: Any) -> str:
    """Import a run of the echo worker with this configuration, and return its id."""
    document = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", **config}
    run_id = client.submit({**document, "params": {"steps": 3}}).run_id
    client.wait(run_id, timeout_s=60)
    archive = folder / "run.tar.gz"
    client.export_run(run_id, archive)
    client.delete(run_id)
    assert client.import_run(archive).run_id == run_id
    archive.unlink()
    return run_id


def test_code_of_an_imported_run_is_withheld(daemon: DaemonUnderTest, tmp_path: Path) -> None:
    """Its configuration is returned without the code, which is in a separate field."""
    with TrainerClient.connect(daemon.home) as client:
        run_id = _import_run(client, tmp_path, python_path=["../x"])
        details = client.run(run_id)
        assert details.run.imported
        assert "python_path" not in json.loads(details.config_json)
        assert json.loads(details.withheld_json) == {"python_path": ["../x"]}
        own = client.submit({"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"})
        assert not client.wait(own.run_id, timeout_s=60).imported


def test_the_mark_survives_a_lost_registry(daemon: DaemonUnderTest, tmp_path: Path) -> None:
    """The launch record in the archive is not used, and the code stays withheld."""
    with TrainerClient.connect(daemon.home) as client:
        run_id = _import_run(client, tmp_path, python_path=["../x"])
    assert daemon.run(run_id).launch.is_file()
    daemon.stop()
    for file in daemon.home.trainer.glob("trainer.db*"):
        file.unlink()
    daemon.restart()
    with TrainerClient.connect(daemon.home) as client:
        details = client.run(run_id)
        assert details.run.imported
        assert (details.command, details.bundle) == ((), None)
        assert json.loads(details.withheld_json) == {"python_path": ["../x"]}


@pytest.fixture(scope="module")
def mosaic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    with with_apprentice(tmp_path_factory.mktemp("imported")) as runner:
        yield runner


@pytest.fixture(scope="module")
def trained(mosaic: Mosaic) -> RunDirectory:
    """An imported run with a checkpoint; its code creates a file when it is run."""
    own_code = mosaic.folder / "code"
    own_code.mkdir()
    mosaic.ok(
        *("train", WORKER, "--algo", "count", "--env", "Some-v0"),
        *("--name", "trained", "--path", str(own_code)),
    )
    run = mosaic.home.run(mosaic.json("runs", "show", "trained")["run_id"])
    (run.path / _FOLDER).mkdir()
    code = "open(__file__ + '.was-run', 'w').close()"
    (run.path / _FOLDER / "sitecustomize.py").write_text(code)
    config = json.loads(run.config.read_bytes())
    config["python_path"] = [f"../{run.run_id}/{_FOLDER}"]
    run.config.write_text(json.dumps(config))
    mosaic.ok("runs", "export", run.run_id, "run.tar.gz")
    mosaic.ok("runs", "delete", run.run_id, "--yes")
    mosaic.ok("runs", "import", "run.tar.gz")
    return run


def _was_code_run(run: RunDirectory) -> bool:
    return any((run.path / _FOLDER).glob("*.was-run"))


@pytest.mark.parametrize(
    "command",
    [("evaluate", "trained", "--episodes", "1"), ("train", WORKER, "--resume", "trained")],
    ids=["evaluate", "resume"],
)
def test_commands_need_consent(mosaic: Mosaic, trained: RunDirectory, command: Any) -> None:
    """The error names the folder; with the option its code runs."""
    (trained.path / _FOLDER / "sitecustomize.py.was-run").unlink(missing_ok=True)
    rejected = mosaic(*command)
    assert rejected.returncode != 0
    assert f"../{trained.run_id}/{_FOLDER}" in rejected.stderr
    assert "--use-imported-code" in rejected.stderr
    assert not _was_code_run(trained)
    mosaic(*command, "--use-imported-code")
    assert _was_code_run(trained)


def test_own_folders_replace_those_of_the_archive(mosaic: Mosaic, trained: RunDirectory) -> None:
    """--path needs no consent."""
    (trained.path / _FOLDER / "sitecustomize.py.was-run").unlink(missing_ok=True)
    mosaic("evaluate", "trained", "--episodes", "1", "--path", str(mosaic.folder / "code"))
    assert not _was_code_run(trained)
