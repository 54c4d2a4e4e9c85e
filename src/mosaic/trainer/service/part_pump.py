"""PartPump: takes what a simulation gives on a thread of its own, a few parts ahead of the client.

So the simulation draws its next frames while one is on its way, and waits once a few are ready.
"""

import asyncio
import threading

from mosaic.trainer.concurrency import in_long_thread
from mosaic.trainer.simulation.simulation import Simulation, SimulationPart

_PARTS_AHEAD = 8


class PartPump:
    """Made on the event loop, and stopped there in any case."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[SimulationPart | BaseException | None] = asyncio.Queue()
        self._room = threading.Semaphore(_PARTS_AHEAD)
        self._is_stopped = False
        self._pumping = asyncio.ensure_future(in_long_thread(self._pump))

    async def next_part(self) -> SimulationPart | None:
        """The next part that the client still wants; None at the end. Raises what went wrong."""
        while True:
            taken = await self._ready.get()
            self._room.release()
            if isinstance(taken, BaseException):
                raise taken
            if taken is None or self._simulation.is_wanted(taken.message):
                return taken

    async def stop(self) -> None:
        """Ends the simulation; when this returns, no thread uses it any more."""
        self._is_stopped = True
        self._simulation.kill()
        self._room.release()
        await asyncio.wait({self._pumping})

    def _pump(self) -> None:
        while True:
            taken = self._taken()
            self._room.acquire()
            if self._is_stopped:
                return
            self._loop.call_soon_threadsafe(self._ready.put_nowait, taken)
            if not isinstance(taken, SimulationPart):
                return

    def _taken(self) -> SimulationPart | BaseException | None:
        try:
            return self._simulation.next_part()
        except BaseException as error:  # noqa: BLE001 - raised again on the event loop
            return error
