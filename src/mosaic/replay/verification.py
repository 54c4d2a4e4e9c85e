"""Verifies that a recorded episode can be reproduced: every reward and end flag is compared.

Used by `mosaic replay --verify`, by notebooks and by the window.
"""

from collections.abc import Callable

import msgspec

from mosaic.client.resimulation import SimulationChecked
from mosaic.contract.errors import UserError
from mosaic.replay.cancellation import Cancellation
from mosaic.replay.simulation import SimulationSource


class Verification(msgspec.Struct, kw_only=True, frozen=True):
    """Result of a verification. `first_difference` is the number of a step, counted from 0."""

    identical: bool
    steps: int
    """Number of compared steps, including the one that differs."""
    first_difference: int | None = None
    difference: str = ""
    warnings: tuple[str, ...] = ()


def verify(
    client: SimulationSource,
    run_id: str,
    episode: int,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    cancellation: Cancellation | None = None,
) -> Verification:
    """Re-simulate the episode without rendering and compare it with the record.

    `on_progress` is called with the number of compared steps and the total. Raises `UserError` if
    the episode cannot be re-simulated, `CancelledError` if the verification was cancelled.

        result = verify(client, run_id, 3)
        print(result.identical, result.first_difference)
    """
    cancellation = cancellation or Cancellation()
    simulation = client.resimulate(run_id, episode, verify_only=True)
    try:
        with cancellation.interrupt_with(simulation.close):
            try:
                opened = simulation.opened
                for message in simulation:
                    cancellation.check()
                    if not isinstance(message, SimulationChecked):
                        continue
                    if on_progress is not None:
                        on_progress(message.steps, opened.steps)
                    if message.is_over:
                        return _to_verification(message, opened.warnings)
            except UserError:
                cancellation.check()
                raise
            cancellation.check()
            raise UserError(
                f"The simulation of episode {episode} ended before all steps were compared.",
                remedy="Try again; see the daemon's log under logs/ of the home.",
                code="C174",
            )
    finally:
        simulation.close()


def _to_verification(checked: SimulationChecked, warnings: tuple[str, ...]) -> Verification:
    return Verification(
        identical=checked.first_difference is None,
        steps=checked.steps,
        first_difference=checked.first_difference,
        difference=checked.difference,
        warnings=warnings,
    )
