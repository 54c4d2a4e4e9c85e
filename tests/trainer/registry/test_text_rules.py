"""What a worker says of itself is stored as text, never as commands to a terminal."""

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.run_states import RunState
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.trainer.registry.conftest import config, finish


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("401 for \x1b[31mred\x1b[2J", "401 for red"),
        ("x\x1b]0;owned\x07\x1b[2Jy", "xy"),
        ("c1 \x9b2J\x9d0;owned\x9c", "c1 2J0;owned"),
        ("bell\x07 back\x08 return\r nul\x00", "bell back return nul"),
        ("turned \u202e text", "turned  text"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("half a pair \ud800", "half a pair ?"),
        ("Täglich grüßt 🦫", "Täglich grüßt 🦫"),
    ],
)
def test_no_text_of_a_process_moves_a_terminal(
    registry: RunRegistry, message: str, shown: str
) -> None:
    """Reason, remedy, warnings and output come out plain; lines and tabs stay."""
    run_id = registry.add(new_ulid(), config(), reason=message, remedy=message).run_id
    assert (registry.get(run_id).reason, registry.get(run_id).remedy) == (shown, shown)
    registry.set_warnings(run_id, [message])
    assert registry.get(run_id).warnings == (shown,)
    finish(registry, run_id, RunState.FAILED, output_tail=[message], remedy=message)
    details = registry.details(run_id)
    assert details.output_tail == (shown.replace("\n", " "),)
    assert details.run.remedy == shown
