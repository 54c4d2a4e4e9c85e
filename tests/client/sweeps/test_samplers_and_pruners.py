"""Samplers and pruners by name, in the sweep worker's bundle."""

import itertools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

_ROOT = Path(__file__).parents[3]
_SOURCES = ("src", "worker_sdk/src", "workers/sweep_worker/src")
_SCRIPT = Path(__file__).with_name("try_samplers_and_pruners.py")


@pytest.fixture(scope="module")
def results(sweep_python: Path) -> dict[str, Any]:
    path = os.pathsep.join(str(_ROOT / source) for source in _SOURCES)
    done = subprocess.run(
        [sweep_python, _SCRIPT],
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
    )
    output: dict[str, Any] = json.loads(done.stdout)
    return output


@pytest.mark.parametrize("sampler", ["tpe", "random", "grid"])
def test_sampler_stays_within_space(results: dict[str, Any], sampler: str) -> None:
    """Every value is in the search space."""
    for values in results[sampler]["chosen"]:
        assert 1e-4 <= values["rate"] <= 1e-2
        assert values["count"] in (1, 2, 3, 4)
        assert values["kind"] in ("a", "b")


def test_grid_is_searched_once(results: dict[str, Any]) -> None:
    """Both bounds of each range, every choice, and no duplicates."""
    grid = results["grid"]
    chosen = {(values["rate"], values["count"], values["kind"]) for values in grid["chosen"]}
    rates = (1e-4, pytest.approx(1e-3), 1e-2)
    assert len(chosen) == grid["counted"] == 18
    assert {count for _, count, _ in chosen} == {1, 2, 4}
    assert sorted({rate for rate, _, _ in chosen}) == list(rates)
    assert len({*itertools.product("ab", (1, 2, 4))}) * 3 == len(chosen)


@pytest.mark.parametrize("sampler", ["cmaes", "qmc", "gp"])
def test_sampler_with_missing_package_is_reported(results: dict[str, Any], sampler: str) -> None:
    """Those in the bundle work, others are rejected with the missing package."""
    result = results[sampler]
    assert result.get("chosen") or "needs" in result["rejected"]


@pytest.mark.parametrize("pruner", ["median", "percentile", "successive_halving", "hyperband"])
def test_pruner_runs(results: dict[str, Any], pruner: str) -> None:
    """Each is created from the parameters and used for four trials."""
    assert results[pruner]["counted"] == 4


def test_pruning_by_a_threshold(results: dict[str, Any]) -> None:
    """Every trial below it is pruned, and none without a pruner."""
    assert (results["threshold"]["pruned"], results["none"]["pruned"]) == (4, 0)
