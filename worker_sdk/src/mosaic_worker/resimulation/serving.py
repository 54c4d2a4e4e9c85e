"""Answers frame requests, or verifies an episode by replaying all steps once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mosaic_worker.resimulation.messages import WAITING

if TYPE_CHECKING:
    from mosaic_worker.resimulation.episode_record import EpisodeRecord, RecordComparison
    from mosaic_worker.resimulation.messages import MessageWriter, PositionFile
    from mosaic_worker.resimulation.requests import FrameRequest, FrameRequests
    from mosaic_worker.resimulation.simulation import EpisodeSimulation

_REPORT_EVERY_S = 0.1


class ComparisonReporter:
    """Reports the reporter of the comparison periodically, and its result immediately."""

    def __init__(self, comparison: RecordComparison, messages: MessageWriter) -> None:
        self._comparison = comparison
        self._messages = messages
        self._is_done = False
        self._next_report_s = 0.0

    def report(self) -> None:
        if self._is_done:
            return
        is_finished = self._comparison.is_finished
        if not is_finished and time.monotonic() < self._next_report_s:
            return
        self._messages.checked(self._comparison)
        self._next_report_s = time.monotonic() + _REPORT_EVERY_S
        self._is_done = is_finished


def verify(
    simulation: EpisodeSimulation, comparison: RecordComparison, reporter: ComparisonReporter
) -> None:
    """Replay without rendering, up to the first difference."""
    reporter.report()
    while not comparison.is_finished and simulation.step():
        reporter.report()


class FrameServer:
    """Answers requests until the process ends."""

    def __init__(
        self,
        record: EpisodeRecord,
        simulation: EpisodeSimulation,
        requests: FrameRequests,
        messages: MessageWriter,
        reporter: ComparisonReporter,
        position: PositionFile,
    ) -> None:
        self._record = record
        self._simulation = simulation
        self._requests = requests
        self._messages = messages
        self._reporter = reporter
        self._position = position

    def serve(self) -> None:
        request = None
        self._reporter.report()
        while True:
            self._position.write(WAITING, self._simulation.steps)
            request = self._requests.wait_for_next(request)
            if self._answer(request):
                self._messages.done(request.number)

    def _answer(self, request: FrameRequest) -> bool:
        """Send all frames of the request in order. False if a newer request replaced it."""
        end = self._record.steps + 1
        if request.frames:
            end = min(end, request.first + request.frames)
        for index in range(request.first, end):
            if not self._reach(index, request):
                return False
            self._messages.frame(request.number, index, self._simulation.render(index))
        return True

    def _reach(self, index: int, request: FrameRequest) -> bool:
        if index < self._simulation.steps:
            self._simulation.go_back(index)
        while not self._requests.is_replaced(request):
            if self._simulation.steps == index or not self._simulation.step_towards(index):
                return True
            self._reporter.report()
        return False
