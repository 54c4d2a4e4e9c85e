"""The filter of the list of runs: matching and completions."""

import pytest

from gym_gui.runs.model.run_search import RunSearch, completions, haystack_of
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_RUNS = {
    "cart": RunRecord(
        run_id="01A",
        name="first try",
        worker="cleanrl_worker",
        mode="train",
        algo="ppo",
        env_id="CartPole-v1",
        seed=1,
        state=RunState.FAILED,
        created_at=1.0,
        tags=("paper", "to keep"),
    ),
    "lake": RunRecord(
        run_id="01B",
        worker="tabular_worker",
        mode="train",
        algo="q_learning",
        env_id="FrozenLake-v1",
        seed=11,
        state=RunState.SUCCEEDED,
        created_at=2.0,
        note="Slippery: no",
    ),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"cart", "lake"}),
        ("FIRST cartpole", {"cart"}),
        ("s11", {"lake"}),
        ("slippery", {"lake"}),
        ("frozenlake-v1 q_learning s11", {"lake"}),
        ("state:failed", {"cart"}),
        ("state:done", {"lake"}),
        ("state:failed,lost,done", {"cart", "lake"}),
        ("-state:failed", {"lake"}),
        ("seed:1", {"cart"}),
        ("env:cart algo:ppo worker:clean", {"cart"}),
        ("worker:CleanRL", {"cart"}),
        ('tag:"to keep"', {"cart"}),
        ("-tag:paper", {"lake"}),
        ("-ppo", {"lake"}),
        ("tag:", {"cart", "lake"}),
        ("stat:failed", set()),
        ("note:slip env:cart", set()),
        ('"first try"', {"cart"}),
        ('tag:"to', {"cart"}),
    ],
)
def test_search_matches(text: str, expected: set[str]) -> None:
    """Plain terms, fields, negation, commas and quotes; incomplete input is not an error."""
    search = RunSearch(text)
    assert {
        name for name, run in _RUNS.items() if search.matches(run, haystack_of(run))
    } == expected


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("st", ["state:"]),
        ("-ta", ["-tag:"]),
        ("cart", []),
        ("state:", ["state:done", "state:failed"]),
        ("tag:", ["tag:paper", 'tag:"to keep"']),
        ("worker:tab", ["worker:Tabular"]),
        ("nothing:", []),
        ("", []),
    ],
)
def test_completions(term: str, expected: list[str]) -> None:
    """Field names, and the values of a field that occur in the runs."""
    assert completions(term, _RUNS.values()) == expected
