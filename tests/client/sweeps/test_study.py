"""Studies that Optuna created are read without Optuna."""

import math
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from mosaic.client.sweeps.study import StudyError, read_studies, read_study

pytestmark = pytest.mark.process

_MAKE = Path(__file__).with_name("make_studies.py")


@pytest.fixture(scope="module")
def studies(sweep_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the study files."""
    folder = tmp_path_factory.mktemp("studies")
    subprocess.run([sweep_python, _MAKE, folder], check=True, timeout=120)
    return folder


def test_every_kind_of_trial_is_read(studies: Path) -> None:
    """States, external parameter values, infinite values, and intermediate values."""
    empty, study = read_studies(studies / "any.db")
    assert (empty.directions, empty.trials, empty.best) == (("minimize", "maximize"), (), None)
    assert (study.name, study.directions, study.attributes) == (
        "full",
        ("minimize",),
        {"about": "tests"},
    )
    states = ["complete", "complete", "pruned", "failed", "running", "waiting"]
    assert [trial.state for trial in study.trials] == states
    first, infinite, pruned, failed, _, waiting = study.trials
    assert first.params == {"rate": 0.001, "count": 4, "kind": None}
    assert (failed.params["kind"], pruned.params["kind"]) == ("a", True)
    assert isinstance(first.params["count"], int)
    assert (first.value, first.attributes) == (2.5, {"runs": ["x"]})
    assert (first.intermediate[0], first.intermediate[1]) == (3.0, math.inf)
    assert math.isnan(first.intermediate[2])
    assert first.started_at is not None
    assert first.ended_at is not None
    assert first.started_at <= first.ended_at
    assert (infinite.value, study.best_trial) == (-math.inf, infinite)
    assert (pruned.value, pruned.latest, waiting.params) == (7.0, 7.0, {})


def test_study_of_cleanrl_tuner_is_read(studies: Path) -> None:
    """Choices are decoded to their values, and the scores of all seeds are read."""
    study = read_study(studies / "cleanrl_hpopt.db")
    assert study.directions == ("maximize",)
    assert len(study.trials) == 6
    for trial in study.trials:
        assert trial.params["num-minibatches"] in (1, 2, 4)
        assert trial.params["num-steps"] in (5, 16, 32, 64, 128)
        assert sorted(trial.intermediate) == [0, 1, 2]
        assert trial.intermediate[2] == pytest.approx(trial.value)
    assert study.best_trial is not None
    assert study.best_trial.value == max(trial.value or 0.0 for trial in study.trials)


def test_older_optuna_file_is_read(studies: Path, tmp_path: Path) -> None:
    """Before Optuna 3 there was no column for infinity and NaN."""
    path = tmp_path / "old.db"
    with (
        closing(sqlite3.connect(studies / "cleanrl_hpopt.db")) as new,
        closing(sqlite3.connect(path)) as old,
    ):
        new.backup(old)
        old.execute("ALTER TABLE trial_values DROP COLUMN value_type")
        old.execute("ALTER TABLE trial_intermediate_values DROP COLUMN intermediate_value_type")
        old.commit()
    assert read_study(path) == read_study(studies / "cleanrl_hpopt.db")


def test_empty_file_has_no_study(tmp_path: Path) -> None:
    """A sweep that has just started has such a file."""
    with closing(sqlite3.connect(tmp_path / "new.db")) as database:
        database.execute("PRAGMA journal_mode=WAL")
        assert read_studies(tmp_path / "new.db") == []
        with pytest.raises(StudyError, match="has no study"):
            read_study(tmp_path / "new.db")


def test_invalid_study_file_is_rejected(studies: Path, tmp_path: Path) -> None:
    """The error names the file."""
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but as long as the header of one")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE studies (x)")
    broken = tmp_path / "broken.db"
    broken.write_bytes((studies / "any.db").read_bytes()[:5000])
    for path in (text, other, broken, tmp_path / "missing.db", tmp_path):
        with pytest.raises(StudyError, match=path.name):
            read_study(path)
    with pytest.raises(StudyError, match="no study 'other'") as raised:
        read_study(studies / "any.db", "other")
    assert "empty, full" in raised.value.remedy
