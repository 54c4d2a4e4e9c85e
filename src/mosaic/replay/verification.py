"""Proof that a recorded episode comes out the same: every reward and every end flag, once.

Used by `mosaic replay --verify`, by notebooks and by the window.
"""

from collections.abc import Callable

import msgspec

from mosaic.client.resimulation import SimulationChecked
from mosaic.contract.errors import UserError
from mosaic.replay.cancellation import Cancellation
from mosaic.replay.simulation import SimulationSource


class Verification(msgspec.Struct, kw_only=True, frozen=True):
    """What came of it. `first_difference` is the number of a step, counted from 0."""

    identical: bool
    steps: int
    """How many were compared, the one that differs included."""
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
    """Play the episode again without pictures and compare it with the record.

    `on_progress` is called with how many steps have been compared, and how many there are. Raises
    `UserError` when it cannot be played again, and `CancelledError` when it was cancelled.

        outcome = verify(client, run_id, 3)
        print(outcome.identical, outcome.first_difference)
    """
    stop = cancellation or Cancellation()
    simulation = client.resimulate(run_id, episode, verify_only=True)
    try:
        with stop.interrupting(simulation.close):
            try:
                opened = simulation.opened
                for part in simulation:
                    stop.check()
                    if not isinstance(part, SimulationChecked):
                        continue
                    if on_progress is not None:
                        on_progress(part.steps, opened.steps)
                    if part.is_over:
                        return _outcome(part, opened.warnings)
            except UserError:
                stop.check()
                raise
            stop.check()
            raise UserError(
                f"The simulation of episode {episode} ended before all steps were compared.",
                remedy="Try again; the daemon's log under logs/ of the home says more.",
                code="C174",
            )
    finally:
        simulation.close()


def _outcome(checked: SimulationChecked, warnings: tuple[str, ...]) -> Verification:
    return Verification(
        identical=checked.first_difference is None,
        steps=checked.steps,
        first_difference=checked.first_difference,
        difference=checked.difference,
        warnings=warnings,
    )
