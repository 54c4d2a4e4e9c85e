"""What sets two recorded steps apart."""

from typing import Any

import pytest

from gym_gui.compare.feed.divergence import difference
from mosaic.contract.events import StepRecord


def _step(**other: Any) -> StepRecord:
    told: dict[str, Any] = {
        "episode_id": "ep0",
        "step": 4,
        "action": 1,
        "reward": 0.5,
        "terminated": False,
        "truncated": False,
        "obs": [1.0, 2.0],
    }
    return StepRecord(**(told | other))


def test_what_was_not_recorded_of_one_does_not_count() -> None:
    """Nor does whose episode it is, or who acted."""
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
def test_the_first_thing_that_differs_is_told(other: dict[str, Any], what: str) -> None:
    """An action before the reward that comes of it, and that before what is seen then."""
    found = difference(_step(), _step(**other))
    assert found is not None
    assert (found.step, found.what) == (4, what)
