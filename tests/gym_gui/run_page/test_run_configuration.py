"""Every value of a configuration, its difference from the default and from another run."""

import json
from collections.abc import Mapping

from gym_gui.run_page.model.configuration_table import ConfigurationTable
from gym_gui.run_page.model.run_configuration import ConfigRow, ConfigSource, rows_of
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor
from mosaic.contract.parameters import Parameter
from mosaic.contract.run_config import load_run_config

_WORKER = WorkerDescriptor(
    worker="learner",
    algorithms=(
        Algorithm(
            id="ppo",
            parameters=(
                Parameter(name="gamma", type="float", default=0.99, help="How far it looks ahead."),
                Parameter(name="num_envs", type="int", default=4),
            ),
        ),
    ),
)


def _source(
    *, seed: int = 1, resolved: Mapping[str, object] | None = None, **params: object
) -> ConfigSource:
    document = {"worker": "learner", "algo": "ppo", "env_id": "CartPole-v1", "seed": seed}
    return ConfigSource(load_run_config({**document, "params": params}), resolved, _WORKER)


def _by_name(rows: list[ConfigRow]) -> dict[str, ConfigRow]:
    return {row.name: row for row in rows}


def test_every_value_is_listed_with_its_default() -> None:
    """Values of the descriptor, of the configuration, and those that only the worker reported."""
    reported = {"args": {"gamma": 0.9, "num_envs": 4, "batch_size": 512}}
    rows = _by_name(rows_of(_source(gamma=0.9, resolved=reported)))
    assert (rows["gamma"].value, rows["gamma"].default, rows["gamma"].is_changed) == (
        "0.9",
        "0.99",
        True,
    )
    assert not rows["num_envs"].is_changed
    assert not rows["seed"].is_changed
    assert rows["wandb.mode"].value == "online"
    assert (rows["batch_size"].group, rows["batch_size"].value) == ("Resolved by the worker", "512")
    assert not rows["batch_size"].is_changed


def test_compare_two_runs() -> None:
    """Differences, also if only one run has the value; equal numbers are equal."""
    mine = _source(seed=1, num_envs=8)
    theirs = _source(seed=2, num_envs=8.0, resolved={"args": {"device": "cpu"}})
    rows = _by_name(rows_of(mine, theirs))
    assert [name for name, row in rows.items() if row.differs] == ["seed", "device"]
    assert (rows["device"].value, rows["device"].other) == ("", "cpu")


def test_the_table_shows_only_filtered_rows(qtbot: object) -> None:  # noqa: ARG001 - Qt's ground
    """Differences only, search results, and headings only of groups that have rows."""
    table = ConfigurationTable()
    table.show(_source(gamma=0.9), None)
    all_rows = table.rowCount()
    table.show_only_differences(True)
    assert [row.name for row in table.displayed] == ["gamma"]
    assert table.rowCount() == 2
    table.show_only_differences(False)
    table.search("looks ahead")
    assert [row.name for row in table.displayed] == ["gamma"]
    table.search("")
    assert table.rowCount() == all_rows
    table.compare_against("run")
    table.show(_source(gamma=0.9), _source(gamma=0.9, seed=7))
    table.show_only_differences(True)
    assert [(row.name, row.other) for row in table.displayed] == [("seed", "7")]
    assert json.loads(table.as_json())["params"] == {"gamma": 0.9}
