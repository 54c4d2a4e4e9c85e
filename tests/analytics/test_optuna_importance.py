"""Parameter importance: known results, outliers and too few trials."""

import math
import random

from mosaic.analytics.parameter_importance import MIN_TRIALS, compute_ranks, parameter_importance


def _trials(count: int, seed: int = 1) -> list[tuple[dict[str, object], float]]:
    """The value depends on `rate` most, on `kind` a little, on `noise` not at all."""
    rng = random.Random(seed)
    found: list[tuple[dict[str, object], float]] = []
    for _ in range(count):
        rate, kind, noise = 10 ** rng.uniform(-5, -2), rng.choice("ab"), rng.random()
        value = -((math.log10(rate) + 3.5) ** 2) + (0.5 if kind == "a" else 0.0)
        found.append(({"noise": noise, "rate": rate, "kind": kind}, value))
    return found


def test_parameters_are_sorted_by_importance() -> None:
    """Also with the optimum inside of the range, and independent of the scale."""
    found = parameter_importance(_trials(80))
    assert [importance.parameter for importance in found] == ["rate", "kind", "noise"]
    assert found[0].share > 0.5 > found[1].share > 0.02
    assert found[2].share < 0.1
    transformed = [(params, math.exp(3 * value)) for params, value in _trials(80)]
    assert parameter_importance(transformed) == found


def test_diverged_trial_has_little_influence() -> None:
    """Because values are ranked; NaN and infinity are left out."""
    trials = _trials(60)
    trials[7] = (trials[7][0], -1e30)
    trials[9] = (trials[9][0], -math.inf)
    trials[11] = (trials[11][0], math.nan)
    assert [importance.parameter for importance in parameter_importance(trials)] == [
        "rate",
        "kind",
        "noise",
    ]


def test_importance_is_corrected_for_chance() -> None:
    """Parameters without influence have almost no importance, even with few trials."""
    shares = [
        importance.share
        for seed in range(20)
        for importance in parameter_importance(_trials(MIN_TRIALS, seed))
        if importance.parameter == "noise"
    ]
    assert sum(shares) / len(shares) < 0.15


def test_parameters_without_evidence_are_omitted() -> None:
    """Too few trials, one value for all, a parameter that few trials have, lists as choices."""
    assert parameter_importance(_trials(MIN_TRIALS - 1)) == ()
    same = [({"a": 1}, float(at)) for at in range(30)]
    assert parameter_importance(same) == ()
    some = [({"a": at} if at < 5 else {}, float(at)) for at in range(30)]
    assert parameter_importance(some) == ()
    lists = [({"layers": [at % 2]}, float(at % 2)) for at in range(30)]
    assert parameter_importance(lists)[0].share > 0.9
    level = [({"a": at % 3}, 1.0) for at in range(30)]
    assert parameter_importance(level)[0].share == 0.0


def test_equal_values_share_a_rank() -> None:
    """As usual in statistics."""
    assert compute_ranks([3.0, 1.0, 3.0, 2.0]) == [3.5, 1.0, 3.5, 2.0]
