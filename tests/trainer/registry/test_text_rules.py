"""Text from a worker is stored without terminal control sequences."""

import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.run_states import RunState
from mosaic.trainer.registry.run_registry import RunRegistry
from tests.trainer.registry.conftest import config, finish


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("401 for \x1b[31mred\x1b[2J", "401 for red"),
        ("x\x1b]0;owned\x07\x1b[2Jy", "xy"),
        ("c1 \x9b2J\x9d0;owned\x9c", "c1 2J0;owned"),
        ("bell\x07 back\x08 return\r nul\x00", "bell back return nul"),
        ("reversed \u202e text", "reversed  text"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("lone surrogate \ud800", "lone surrogate ?"),
        ("Täglich grüßt 🦫", "Täglich grüßt 🦫"),
    ],
)
def test_control_sequences_are_removed(registry: RunRegistry, message: str, expected: str) -> None:
    """In reason, remedy, warnings and output; newlines and tabs are preserved."""
    run_id = registry.add(new_ulid(), config(), reason=message, remedy=message).run_id
    assert (registry.get(run_id).reason, registry.get(run_id).remedy) == (expected, expected)
    registry.set_warnings(run_id, [message])
    assert registry.get(run_id).warnings == (expected,)
    finish(registry, run_id, RunState.FAILED, output_tail=[message], remedy=message)
    details = registry.details(run_id)
    assert details.output_tail == (expected.replace("\n", " "),)
    assert details.run.remedy == expected
