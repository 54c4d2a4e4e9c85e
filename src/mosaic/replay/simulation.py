"""What a replay needs of the daemon's simulation of an episode, and nothing more.

`mosaic.client.resimulation` is what carries it out; everything in this package is written against
these two protocols.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mosaic.client.resimulation import SimulationMessage, SimulationOpened


class Simulation(Protocol):
    """An episode that is played again, step by step, in the bundle of its run."""

    @property
    def opened(self) -> "SimulationOpened":
        """How long the episode is, how fast it is shown, and what to be warned of; waits for it."""

    def request_frames(self, first: int, count: int = 0) -> int:
        """Ask for frames from `first` on, 0 being all that follow; replaces what was asked before.

        Returns at once; any thread may call it. The answer is the number that comes back as
        `request` in what it causes.
        """

    def __iter__(self) -> "Iterator[SimulationMessage]": ...

    def close(self) -> None:
        """End it; the iteration ends too. Any thread may call it."""


class SimulationSource(Protocol):
    """Whoever opens simulations: a `TrainerClient`."""

    def resimulate(self, run_id: str, episode: int, *, verify_only: bool = False) -> Simulation:
        """Raises `UserError` when the episode cannot be simulated."""
