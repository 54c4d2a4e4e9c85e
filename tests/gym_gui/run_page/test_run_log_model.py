"""The log of a run that prints far too much: what is kept has a bound, and the end is there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.run_page.model import run_log_model
from gym_gui.run_page.model.run_log_model import RunLogModel
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest
from tests.trainer.workers.worker_files import write_worker

pytestmark = pytest.mark.process

_LINES = 60
_KEPT = 1_000_000
_PRINTS = f"""
import json, sys
if "--describe" in sys.argv:
    told = {{"worker": "loud", "version": "1", "modes": ["train"], "environments": {{"any": True}}}}
    print(json.dumps(told | {{"algorithms": [{{"id": "x", "label": "x"}}]}}))
    sys.exit()
for number in range({_LINES}):
    print(number, "x" * 200_000, file=sys.stderr)
print("the end", file=sys.stderr)
"""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonUnderTest]:
    """With a worker that prints lines of two hundred thousand characters."""
    write_worker(tmp_path / "workers", "loud", main=_PRINTS)
    under_test = DaemonUnderTest(tmp_path)
    under_test.home.trainer.mkdir(parents=True)
    under_test.home.settings.write_text(f'worker_folders = ["{tmp_path / "workers"}"]\n')
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


def test_lines_at_the_beginning_go(
    qtbot: QtBot,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    pulse: UiTicker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However few and long they are; how many went is counted, and a search finds what is left."""
    monkeypatch.setattr(run_log_model, "MOST_CHARACTERS", _KEPT)
    monkeypatch.setattr("gym_gui.run_page.feed.run_log_feed._MOST_AT_ONCE", 4)
    config = json.dumps({"worker": "loud", "algo": "x", "env_id": "E-v0"}).encode()
    run_id = daemon.stub.SubmitRun(pb.SubmitRunRequest(config_json=config)).run_id
    daemon.until(run_id)
    model = RunLogModel(link, pulse)
    model.search("x")
    model.show(run_id)
    qtbot.waitUntil(lambda: model.is_over, timeout=PATIENCE_MS)
    model.close()
    assert model.join(10)
    assert model.total == _LINES + 1
    assert model.dropped == model.total - model.rowCount() > 0
    assert model.begins_later
    assert len(model.all_text()) < 2 * _KEPT
    assert model.line(model.rowCount() - 1).text == "the end"
    assert model.found_count == model.rowCount() - 1
