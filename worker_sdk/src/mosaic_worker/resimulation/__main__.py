"""`python -m mosaic_worker.resimulation RECORDING.json`, started by the trainer daemon."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError
from mosaic_worker.resimulation.episode_record import EpisodeRecord, RecordComparison, read_record
from mosaic_worker.resimulation.messages import MessageWriter, PositionFile
from mosaic_worker.resimulation.requests import FrameRequests, die_with_parent
from mosaic_worker.resimulation.serving import ComparisonReporter, FrameServer, verify
from mosaic_worker.standard_streams import claim_stdin, claim_stdout

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 if finished or if the daemon is gone, 1 after an error."""
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


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # skip clean-up of the environment, which may hang
