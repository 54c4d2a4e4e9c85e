"""verify: identical or not, the first difference, and progress."""

import pytest

from mosaic.client.resimulation import SimulationChecked
from mosaic.contract.errors import UserError
from mosaic.replay.cancellation import Cancellation, CancelledError
from mosaic.replay.verification import Verification, verify
from tests.replay.stand_in import StandInClient


def test_identical_episode() -> None:
    """With progress reports."""
    client = StandInClient(steps=10)
    client.warnings = ("Packages differ.",)
    client.checks = [
        SimulationChecked(steps=5, is_over=False),
        SimulationChecked(steps=10, is_over=True),
    ]
    progress: list[tuple[int, int]] = []
    outcome = verify(client, "RUN", 0, on_progress=lambda *seen: progress.append(seen))
    assert outcome == Verification(identical=True, steps=10, warnings=client.warnings)
    assert progress == [(5, 10), (10, 10)]


def test_different_episode() -> None:
    """The step and a description of the difference."""
    client = StandInClient(steps=10)
    client.checks = [
        SimulationChecked(steps=3, is_over=True, first_difference=3, difference="reward 0, not 1")
    ]
    outcome = verify(client, "RUN", 0)
    assert not outcome.identical
    assert (outcome.first_difference, outcome.difference) == (3, "reward 0, not 1")


def test_episode_that_cannot_be_replayed() -> None:
    """The reason is raised."""
    client = StandInClient()
    client.error = UserError("No actions were recorded.", remedy="Record them.")
    with pytest.raises(UserError, match="No actions"):
        verify(client, "RUN", 0)


def test_simulation_that_ends_early_is_an_error() -> None:
    """It is an error, not a result."""
    client = StandInClient()
    client.checks = [SimulationChecked(steps=3, is_over=False)]
    with pytest.raises(UserError, match="before all steps"):
        verify(client, "RUN", 0)


def test_cancelling() -> None:
    """While it runs, and before it has started."""
    client = StandInClient()
    client.checks = [SimulationChecked(steps=step, is_over=False) for step in range(10)]
    cancellation = Cancellation()
    with pytest.raises(CancelledError):
        verify(
            client,
            "RUN",
            0,
            on_progress=lambda *_: cancellation.cancel(),
            cancellation=cancellation,
        )
    with pytest.raises(CancelledError):
        verify(client, "RUN", 0, cancellation=cancellation)
