"""`python -m mosaic_worker.resimulation RECORDING.json`, started by the trainer daemon.

Answers requests for frames, or verifies the episode by replaying all steps once.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError
from mosaic_worker.resimulation.episode_record import EpisodeRecord, RecordComparison, read_record
from mosaic_worker.resimulation.messages import WAITING, MessageWriter, PositionFile
from mosaic_worker.resimulation.requests import FrameRequests, die_with_parent
from mosaic_worker.standard_streams import claim_stdin, claim_stdout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mosaic_worker.resimulation.requests import FrameRequest
    from mosaic_worker.resimulation.simulation import EpisodeSimulation

_REPORT_EVERY_S = 0.1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the helper; returns 0 if it finished or the daemon is gone, 1 after an error."""
    parser = argparse.ArgumentParser(prog="python -m mosaic_worker.resimulation")
    parser.add_argument("recording", type=Path, help="the recorded episode, as JSON")
    parser.add_argument(
        "--verify", action="store_true", help="replay all steps once, without frames"
    )
    parser.add_argument("--position", type=Path, help="file for the current step")
    given = parser.parse_args(arguments)
    die_with_parent()
    messages = MessageWriter(claim_stdout())
    stdin = claim_stdin()
    try:
        requests = FrameRequests(stdin) if stdin is not None else None
        _simulate(given, requests, messages)
    except BrokenPipeError:
        return 0  # the daemon is gone
    except WorkerError as error:
        messages.error(error.message, error.remedy)
        return 1
    except Exception as error:  # noqa: BLE001 - top level of the process
        traceback.print_exc()
        messages.error(
            f"The simulation failed: {type(error).__name__}: {error}",
            "Please report it, with the traceback in the daemon's log.",
        )
        return 1
    return 0


def _simulate(
    given: argparse.Namespace, requests: FrameRequests | None, messages: MessageWriter
) -> None:
    # Imported late, so that import errors are reported like other errors.
    from mosaic_worker.resimulation.simulation import EpisodeSimulation  # noqa: PLC0415

    record = read_record(given.recording)
    comparison = RecordComparison(record)
    position = PositionFile(given.position)
    simulation = EpisodeSimulation(record, comparison, position, has_frames=not given.verify)
    simulation.open()
    messages.opened(record.steps, simulation.fps, _versions(record))
    reporter = ComparisonReporter(comparison, messages)
    if given.verify:
        verify(simulation, comparison, reporter)
    elif requests is not None:
        FrameServer(record, simulation, requests, messages, reporter, position).serve()


def _versions(record: EpisodeRecord) -> dict[str, str | None]:
    """Installed versions of the packages named in the record; None if missing."""
    from importlib import metadata  # noqa: PLC0415 - slow to import

    def version(name: str) -> str | None:
        if name == "python":
            return platform.python_version()
        try:
            return metadata.version(name)
        except (metadata.PackageNotFoundError, ValueError):  # missing, or an invalid name
            return None

    return {name: version(name) for name in record.packages}


class ComparisonReporter:
    """Reports the progress of the comparison periodically, and its result immediately."""

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


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # skip clean-up of the environment, which may hang
