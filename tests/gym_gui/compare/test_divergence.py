"""The first difference of two recorded steps."""

from typing import Any

import pytest

from gym_gui.compare.feed.divergence import difference
from mosaic.contract.events import StepRecord


def _step(**other: Any) -> StepRecord:
    fields: dict[str, Any] = {
        "episode_id": "ep0",
        "step": 4,
        "action": 1,
        "reward": 0.5,
        "terminated": False,
        "truncated": False,
        "obs": [1.0, 2.0],
    }
    return StepRecord(**(fields | other))


def test_fields_recorded_in_one_step_only_are_ignored() -> None:
    """The episode and the actor are ignored too."""
    assert difference(_step(), _step(episode_id="ep9", actor="human")) is None
    assert difference(_step(), _step(obs=None)) is None


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"action": [0.1, 0.2]}, "action"),
        ({"reward": 0.25}, "reward"),
        ({"obs": [1.0, 2.5]}, "observation"),
        ({"truncated": True}, "end"),
    ],
)
def test_the_first_difference_is_reported(other: dict[str, Any], what: str) -> None:
    """The action first, then the reward, then the observation."""
    found = difference(_step(), _step(**other))
    assert found is not None
    assert (found.step, found.what) == (4, what)
