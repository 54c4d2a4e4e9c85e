"""Protocols of the re-simulation of an episode, as this package uses it.

`mosaic.client.resimulation` implements them. A separate module so that this package can be tested
without a daemon and imported without gRPC.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mosaic.client.resimulation import SimulationMessage, SimulationOpened


class SimulationStream(Protocol):
    """A recorded episode that is re-simulated in the bundle of its run."""

    @property
    def opened(self) -> "SimulationOpened":
        """Length, frame rate and warnings; waits until the simulation is open."""

    def request_frames(self, first: int, count: int = 0) -> int:
        """Request `count` frames from `first` on (0: all that follow), replacing earlier requests.

        Returns immediately. Thread-safe. Returns the number that the resulting messages have in
        `request`.
        """

    def __iter__(self) -> "Iterator[SimulationMessage]": ...

    def close(self) -> None:
        """End the simulation and the iteration. Thread-safe."""


class SimulationSource(Protocol):
    """Opens simulations: a `TrainerClient`."""

    def resimulate(
        self, run_id: str, episode: int, *, verify_only: bool = False
    ) -> SimulationStream:
        """Re-simulate an episode. Raises `UserError` if that is not possible."""
