"""Serving: frames as they are asked for, or one run through all steps to verify them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mosaic_worker.resimulation.position import WAITING

if TYPE_CHECKING:
    from mosaic_worker.resimulation.comparison import Comparison
    from mosaic_worker.resimulation.episode_record import EpisodeRecord
    from mosaic_worker.resimulation.messages import MessageWriter
    from mosaic_worker.resimulation.position import Position
    from mosaic_worker.resimulation.requests import FrameRequest, FrameRequests
    from mosaic_worker.resimulation.simulation import Simulation

_TELL_EVERY_S = 0.1


class Progress:
    """Tells how far the comparison is, a few times a second, and its result at once."""

    def __init__(self, comparison: Comparison, messages: MessageWriter) -> None:
        self._comparison = comparison
        self._messages = messages
        self._is_told = False
        self._tell_at = 0.0

    def tell(self) -> None:
        if self._is_told:
            return
        is_over = self._comparison.is_over
        if not is_over and time.monotonic() < self._tell_at:
            return
        self._messages.checked(self._comparison)
        self._tell_at = time.monotonic() + _TELL_EVERY_S
        self._is_told = is_over


def verify(simulation: Simulation, comparison: Comparison, progress: Progress) -> None:
    """All steps, or those up to the first difference; nothing is drawn."""
    progress.tell()
    while not comparison.is_over and simulation.step():
        progress.tell()


class FrameServer:
    """Answers requests until the process ends."""

    def __init__(
        self,
        record: EpisodeRecord,
        simulation: Simulation,
        requests: FrameRequests,
        messages: MessageWriter,
        progress: Progress,
        position: Position,
    ) -> None:
        self._record = record
        self._simulation = simulation
        self._requests = requests
        self._messages = messages
        self._progress = progress
        self._position = position

    def serve(self) -> None:
        request = None
        self._progress.tell()
        while True:
            self._position.note(WAITING, self._simulation.steps)
            request = self._requests.wait_for_other_than(request)
            if self._answer(request):
                self._messages.done(request.number)

    def _answer(self, request: FrameRequest) -> bool:
        """All frames of the request, in order. False: a newer one has replaced it."""
        end = self._record.steps + 1
        if request.frames:
            end = min(end, request.first + request.frames)
        for index in range(request.first, end):
            if not self._reach(index, request):
                return False
            self._messages.frame(request.number, index, self._simulation.picture(index))
        return True

    def _reach(self, index: int, request: FrameRequest) -> bool:
        if index < self._simulation.steps:
            self._simulation.go_back(index)
        while not self._requests.is_replaced(request):
            if self._simulation.steps == index or not self._simulation.step_towards(index):
                return True
            self._progress.tell()
        return False
