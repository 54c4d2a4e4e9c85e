"""Groups and titles of runs, and the order of metrics."""

from gym_gui.charts.feed.curves import ChartRunInfo
from gym_gui.charts.model.chart_metrics import MetricKey, grouped, matching, name_of
from gym_gui.charts.model.chart_runs import EACH, SEED, fields_of, groups_of, titles_of
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord


def _run_info(run_id: str, seed: int, **config: str) -> ChartRunInfo:
    run = RunRecord(
        run_id=run_id,
        worker="cleanrl_worker",
        mode="train",
        algo="ppo",
        env_id="CartPole-v1",
        seed=seed,
        state=RunState.SUCCEEDED,
        created_at=0.0,
    )
    return ChartRunInfo(run, {"seed": str(seed), "algo": "ppo", **config}, {})


def test_runs_that_differ_only_in_seed_are_one_group() -> None:
    """Two learning rates with two seeds each are two groups, named by the difference."""
    runs = [
        _run_info(f"{rate}{seed}", seed, learning_rate=rate, run_name=f"{rate} {seed}")
        for rate in ("0.1", "0.2")
        for seed in (1, 2)
    ]
    groups = groups_of(runs, SEED)
    assert [group.run_ids for group in groups] == [("0.11", "0.12"), ("0.21", "0.22")]
    assert groups[0].label == "learning rate 0.1 · 2 seeds"
    assert fields_of(runs) == (SEED, "learning_rate")
    assert [group.label for group in groups_of(runs, "learning_rate")] == [
        "learning rate 0.1 · 2 runs",
        "learning rate 0.2 · 2 runs",
    ]
    assert len(groups_of(runs, EACH)) == 4


def test_runs_with_the_same_name_have_unique_titles() -> None:
    """The end of the run id is added."""
    titles = titles_of([_run_info("01AAAAAA", 1), _run_info("01BBBBBB", 1)])
    assert titles["01AAAAAA"] != titles["01BBBBBB"]


def test_returns_come_first_and_metrics_match_a_search() -> None:
    """Groups by prefix; the group with the returns is the first."""
    names = ("losses/value_loss", "charts/SPS", "charts/episodic_return", "reward")
    keys = [MetricKey(name) for name in names]
    groups = grouped(keys, MetricKey("charts/episodic_return"))
    assert [group.prefix for group in groups] == ["charts", "", "losses"]
    assert groups[0].keys[0].name == "charts/episodic_return"
    assert [group.prefix for group in matching(groups, "value loss")] == ["losses"]
    assert name_of(MetricKey("charts/episodic_return", "red")) == "episodic return · red"
