"""The log of a run that prints too much: memory is bounded, and the end is kept."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.log.model.log_models import RunLogModel
from gym_gui.log.model.log_table_model import LogFilter
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest
from tests.trainer.workers.worker_files import write_worker

pytestmark = pytest.mark.process

_LINES = 60
_MAX_CHARACTERS = 1_000_000
_WORKER = f"""
import json, sys
if "--describe" in sys.argv:
    spec = {{"worker": "loud", "version": "1", "modes": ["train"], "environments": {{"any": True}}}}
    print(json.dumps(spec | {{"algorithms": [{{"id": "x", "label": "x"}}]}}))
    sys.exit()
for number in range({_LINES}):
    print(number, "x" * 200_000, file=sys.stderr)
print("the end", file=sys.stderr)
"""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """With a worker that prints lines of two hundred thousand characters."""
    write_worker(tmp_path / "workers", "loud", main=_WORKER)
    under_test = DaemonUnderTest(tmp_path)
    under_test.home.trainer.mkdir(parents=True)
    under_test.home.settings.write_text(f'worker_folders = ["{tmp_path / "workers"}"]\n')
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


def test_oldest_lines_are_dropped(
    qtbot: QtBot, daemon: DaemonUnderTest, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also few but long lines; dropped lines are counted, and a search finds the rest."""
    monkeypatch.setattr("gym_gui.log.feed._MAX_BATCH", 4)
    config = json.dumps({"worker": "loud", "algo": "x", "env_id": "E-v0"}).encode()
    run_id = daemon.stub.SubmitRun(pb.SubmitRunRequest(config_json=config)).run_id
    daemon.until(run_id)
    runs = RunsModel(services)
    model = RunLogModel(services, runs)
    model.max_characters = _MAX_CHARACTERS
    model.set_filter(LogFilter(text="x"))
    model.show(run_id)
    qtbot.waitUntil(lambda: model.is_finished, timeout=TIMEOUT_MS)
    model.close()
    runs.close()
    assert model.join(10)
    assert runs.join(10)
    assert model.total == _LINES + 1
    assert model.stored_count == model.rowCount()
    assert model.dropped_count == model.total - model.rowCount() > 0
    assert model.is_truncated
    assert model.dropped_text.endswith("older lines are in the run's worker.log")
    assert len(model.text_of(range(model.rowCount()))) < 2 * _MAX_CHARACTERS
    assert model.record(model.rowCount() - 1).message == "the end"
    assert model.match_count == model.rowCount() - 1
