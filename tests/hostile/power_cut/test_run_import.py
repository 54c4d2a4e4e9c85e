"""After a power failure an imported run is complete or absent."""

import json
import os
import random
from pathlib import Path

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.artifacts.run_removal import clean_leftovers
from tests.hostile.power_cut.conftest import CheckStates
from tests.hostile.power_cut.disk_model import State
from tests.hostile.power_cut.recording import Recorder, Recording

pytestmark = pytest.mark.process

_FILE_BY_FILE = 500
_ALL_AT_ONCE = 1


@pytest.fixture(scope="module", params=[_FILE_BY_FILE, _ALL_AT_ONCE])
def recording(
    recorder: Recorder, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Recording:
    """An import whose files are synced one by one, or, as many files are, by one `sync`."""
    folder = tmp_path_factory.mktemp("exported")
    run = Home(folder / "home").run(new_ulid())
    (run.path / "sub" / "deeper").mkdir(parents=True)
    run.config.write_text(json.dumps({"worker": "w", "algo": "a", "env_id": "E-v0"}))
    run.spool.write_text('{"type": "step"}\n' * 1_000)
    (run.path / "sub" / "file").write_bytes(os.urandom(20_000))
    (run.path / "sub" / "deeper" / "file").write_bytes(b"content")
    archive = folder / "run.tar.gz"
    archive.write_bytes(b"".join(export_run(run)))
    return recorder.record(
        f"import-{request.param}",
        ["tests.hostile.power_cut.programs.run_import", archive, str(request.param)],
    )


def _files(folder: Path) -> dict[Path, bytes]:
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def _check_import(folder: Path, state: State, recording: Recording) -> None:
    home = Home(folder / "home")
    ((marked, run_id),) = recording.marks()
    run = home.run(run_id)
    clean_leftovers(home)
    present = [path.name for path in home.runs.iterdir()] if home.runs.exists() else []
    assert present in ([], [run_id])
    if present:
        assert _files(run.path) == _files(Home(recording.root / "home").run(run_id).path)
    if home.config_copy(run_id).exists():
        load_run_config(home.config_copy(run_id).read_bytes())
    if marked < state.position:
        assert present
        assert home.config_copy(run_id).exists()


def test_an_import_is_complete_or_absent(recording: Recording, check_states: CheckStates) -> None:
    """It is complete once the call has returned."""
    check_states(
        recording, random.Random(0), lambda folder, state: _check_import(folder, state, recording)
    )


@pytest.mark.repetition
@pytest.mark.parametrize("seed", range(1, 5))
def test_an_import_is_complete_or_absent_in_more_states(
    recording: Recording, check_states: CheckStates, seed: int
) -> None:
    """The same, at more positions."""
    check_states(
        recording,
        random.Random(seed),
        lambda folder, state: _check_import(folder, state, recording),
    )
