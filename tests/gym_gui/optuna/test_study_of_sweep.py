"""The table of a real Optuna study, written by Optuna while the page is open."""

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.optuna.model.study_model import StudyModel
from gym_gui.optuna.view.study_page import StudyPage
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_SWEEP = """
import math, sys, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(storage=f"sqlite:///{sys.argv[1]}", study_name="real",
                            direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
def objective(trial):
    rate = trial.suggest_float("rate", 1e-5, 1e-2, log=True)
    kind = trial.suggest_categorical("kind", ["tanh", "relu"])
    trial.suggest_int("idle", 1, 100)
    value = -(math.log10(rate) + 3.5) ** 2 + (0.4 if kind == "relu" else 0.0)
    trial.report(value, 0)
    if trial.number % 10 == 7:
        raise optuna.TrialPruned
    return value
study.optimize(objective, n_trials=int(sys.argv[2]))
try:
    importances = optuna.importance.get_param_importances(
        study, evaluator=optuna.importance.PedAnovaImportanceEvaluator())
    print(next(iter(importances)))
except ImportError:
    print("rate")
"""


@pytest.fixture
def selected_run(services: Services) -> Iterator[SelectedRun]:
    runs = RunsModel(services)
    yield SelectedRun(services, runs)
    runs.close()
    assert runs.join(10)


@pytest.fixture
def model(services: Services, selected_run: SelectedRun) -> Iterator[StudyModel]:
    created = StudyModel(services, selected_run)
    yield created
    created.close()
    assert created.join(10)


@pytest.fixture
def page(qtbot: QtBot, model: StudyModel, theme: ThemeModel) -> StudyPage:
    created = StudyPage(model, theme)
    qtbot.addWidget(created)
    created.resize(750, 560)
    created.show()
    return created


def _visible_text(page: QWidget) -> str:
    return " | ".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


def _in_database(path: Path) -> list[dict[str, Any]]:
    """Read the trials with SQL."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT trial_id, number, state FROM trials ORDER BY number")
        trials = [{"id": row[0], "trial": row[1], "state": row[2]} for row in rows]
        for trial in trials:
            given = database.execute(
                "SELECT param_name, param_value FROM trial_params WHERE trial_id=?", (trial["id"],)
            )
            trial |= dict(given)
            value = database.execute(
                "SELECT value FROM trial_values WHERE trial_id=?", (trial["id"],)
            ).fetchone()
            trial["value"] = value[0] if value else None
    return trials


def test_the_table_of_a_real_sweep_matches_its_database(
    qtbot: QtBot,
    page: StudyPage,
    model: StudyModel,
    selected_run: SelectedRun,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    give_bundles: Callable[..., None],
) -> None:
    """Every row matches the database, and the most important parameter is known."""
    give_bundles(daemon.home, "sweep_worker")
    python = next(daemon.home.venvs.glob("sweep_worker-*/bin/python"))
    run_id = daemon.submit(steps=1_000_000, rate=20.0)
    selected_run.select(run_id)
    qtbot.waitUntil(lambda: "This run is not a sweep" in _visible_text(page), timeout=TIMEOUT_MS)
    path = daemon.run(run_id).study
    with subprocess.Popen(
        [str(python), "-I", "-W", "ignore", "-c", _SWEEP, str(path), "30"],
        stdout=subprocess.PIPE,
        text=True,
    ) as sweep:
        qtbot.waitUntil(lambda: sweep.poll() is not None, timeout=2 * TIMEOUT_MS)
        assert sweep.stdout is not None
        top_parameter = sweep.stdout.read().strip()
    assert sweep.returncode == 0
    qtbot.waitUntil(lambda: model.trials.rowCount() == 30, timeout=TIMEOUT_MS)
    qtbot.waitUntil(
        lambda: model.read is not None and model.read.counts["complete"] == 27,
        timeout=TIMEOUT_MS,
    )
    header, *rows = model.trials.as_rows()
    displayed_rows = [dict(zip(header, row, strict=True)) for row in rows]
    for row_fields, stored in zip(displayed_rows, _in_database(path), strict=True):
        assert int(row_fields["trial"]) == stored["trial"]
        assert row_fields["state"] == stored["state"].lower()
        assert float(row_fields["rate"]) == stored["rate"]
        assert row_fields["kind"] == ("tanh", "relu")[int(stored["kind"])]
        assert int(row_fields["idle"]) == stored["idle"]
        assert (float(row_fields["value"]) if row_fields["value"] else None) == stored["value"]
    assert model.importance[0].parameter == top_parameter == "rate"
    assert "27 complete · 3 pruned" in page.bar.counts.text()
    best = max(_in_database(path), key=lambda trial: trial["value"] or -1e9)
    assert f"Best, trial {best['trial']}" in _visible_text(page)
    link.client.cancel(run_id)
