"""Imports of hostile archives, damaged rows, and imports that a power failure interrupts."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mosaic.client import TrainerClient
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.artifacts.run_import import import_run
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.support.daemon import DaemonUnderTest

_CONFIG = load_run_config({"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"})


@pytest.mark.process
def test_a_store_with_text_for_numbers_does_not_break_the_list(
    daemon: DaemonUnderTest, tmp_path: Path
) -> None:
    """The store of an archive is rebuilt from its spool, with the right numbers."""
    archive = tmp_path / "run.tar.gz"
    with TrainerClient.connect(daemon.home) as client:
        run_id = daemon.submit(steps=20)
        client.wait(run_id, timeout_s=60)
        with closing(sqlite3.connect(daemon.run(run_id).store)) as store, store:
            store.execute("UPDATE episode SET reward_sum = 'text', steps = 'text'")
            store.execute("UPDATE counter SET value = 'text'")
        client.export_run(run_id, archive)
        client.delete(run_id)
        client.import_run(archive)
        (listed,) = client.runs_page().runs
        assert listed.run_id == run_id
        assert listed.digest.steps == 20


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE run_digest SET steps = 'text'",
        "UPDATE run_digest SET latest_return = 'text'",
        "UPDATE run SET seed = 'text'",
        "UPDATE run SET state = 'odd'",
        "UPDATE run SET warnings = 'no list'",
        "UPDATE run SET exit_code = 1 << 40",
        "UPDATE run SET created_at = x'00'",
    ],
)
def test_a_damaged_row_is_shown_as_damaged(tmp_path: Path, change: str) -> None:
    """The other runs are listed, and the damaged one can be deleted."""
    path = tmp_path / "trainer.db"
    damaged, valid = new_ulid(), new_ulid()
    with RunRegistry(path) as registry:
        for run_id in (damaged, valid):
            registry.add(run_id, _CONFIG, state=RunState.SUCCEEDED)
    with closing(sqlite3.connect(path)) as connection, connection:
        key = "run" if "run_digest" in change else "key"
        of_run = f" WHERE {key} = (SELECT key FROM run WHERE run_id = ?)"  # noqa: S608
        connection.execute(change + of_run, (damaged,))
    with RunRegistry(path) as registry:
        records = {record.run_id: record for record in registry.list(RunQuery()).runs}
        assert records[valid].state is RunState.SUCCEEDED
        texts = (records[damaged].reason, *records[damaged].warnings)
        assert any("damaged" in text for text in texts)
        registry.delete(damaged)
        assert registry.run_ids() == {valid}


def test_an_import_is_flushed_before_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power failure the run is complete or absent. Checks the order of flushes."""
    run = Home(tmp_path / "here").run(new_ulid())
    (run.path / "sub").mkdir(parents=True)
    run.config.write_text(json.dumps({"worker": "w", "algo": "a", "env_id": "E-v0"}))
    (run.path / "sub" / "file").write_text("content")
    data = b"".join(export_run(run))
    there = Home(tmp_path / "there")
    flushed: list[Path] = []
    renamed_after: list[int] = []
    rename = Path.rename

    def record_rename(path: Path, target: Path) -> Path:
        renamed_after.append(len(flushed))
        return rename(path, target)

    monkeypatch.setattr(
        os, "fsync", lambda fd: flushed.append(Path(f"/proc/self/fd/{fd}").readlink())
    )
    monkeypatch.setattr(Path, "rename", record_rename)
    import_run(there, iter([data]))
    (before_rename,) = renamed_after
    before = {path.name for path in flushed[:before_rename]}
    assert {"config.json", "file", "sub"} <= before
    assert there.runs in flushed[before_rename:]
