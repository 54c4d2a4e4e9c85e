"""BDI lines are stored in order with the episodes they belong to."""

from collections.abc import Callable

from mosaic.contract.decode import decode
from mosaic.contract.events import BdiEvent
from mosaic.telemetry.reader import TelemetryReader
from tests.telemetry.conftest import Spool, step


def test_bdi_lines_up_to_a_step_of_an_episode(
    spool: Spool, stored: Callable[[], TelemetryReader]
) -> None:
    """They are returned in the order in which they were written."""
    started = {"type": "episode_start", "episode_id": "e0", "episode": 0}
    ended = {"type": "episode", "episode_id": "e0", "episode": 0, "steps": 2, "return": 2.0}
    spool.write(
        {"type": "bdi", "step": 0, "added": ["a"]},
        started,
        step(0),
        {"type": "bdi", "step": 1, "agent_id": "x", "added": ["b"], "removed": ["a"]},
        step(1, bdi={"added": ["b"], "mood": [1, 2]}),
        {"type": "bdi", "added": "not a list"},
        ended,
        {"type": "bdi", "step": 2, "goals": ["rest"], "confidence": "NaN", "mood": "fine"},
    )
    reader = stored()
    assert [event.type for event in reader.events_after(-1)] == [
        "bdi", "episode_start", "bdi", "episode", "bdi",
    ]  # fmt: skip
    events = [decode(event.line) for event in reader.events_after(-1, kind="bdi")]
    assert [event.step for event in events if isinstance(event, BdiEvent)] == [0, 1, 2]
    assert reader.steps(0)[1].bdi == {"added": ["b"], "mood": [1, 2]}
    stats = reader.stats()
    assert (stats.types["bdi"], stats.rejects) == (3, 1)
