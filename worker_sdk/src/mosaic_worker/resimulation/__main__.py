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
from mosaic_worker.resimulation.comparison import Comparison
from mosaic_worker.resimulation.episode_record import EpisodeRecord, read_record
from mosaic_worker.resimulation.messages import MessageWriter
from mosaic_worker.resimulation.parent import die_with_parent
from mosaic_worker.resimulation.position import Position
from mosaic_worker.resimulation.requests import FrameRequests
from mosaic_worker.resimulation.serving import FrameServer, Progress, verify
from mosaic_worker.standard_streams import claim_stdin, claim_stdout

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 verified or nobody listens any more, 1 it could not go on."""
    parser = argparse.ArgumentParser(prog="python -m mosaic_worker.resimulation")
    parser.add_argument("recording", type=Path, help="the recorded episode, as JSON")
    parser.add_argument("--verify", action="store_true", help="all steps once, without frames")
    parser.add_argument("--position", type=Path, help="a file to note the current step in")
    given = parser.parse_args(arguments)
    die_with_parent()
    messages = MessageWriter(claim_stdout())
    stdin = claim_stdin()
    try:
        requests = FrameRequests(stdin) if stdin is not None else None
        _simulate(given, requests, messages)
    except BrokenPipeError:
        return 0  # nobody listens any more
    except WorkerError as error:
        messages.error(error.message, error.remedy)
        return 1
    except Exception as error:  # noqa: BLE001 - the edge of the process
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
    # Late, because it brings the recorder along; whatever fails there is told like the rest.
    from mosaic_worker.resimulation.simulation import Simulation  # noqa: PLC0415

    record = read_record(given.recording)
    comparison = Comparison(record)
    position = Position(given.position)
    simulation = Simulation(record, comparison, position, draws=not given.verify)
    simulation.open()
    messages.opened(record.steps, simulation.fps, _versions(record))
    progress = Progress(comparison, messages)
    if given.verify:
        verify(simulation, comparison, progress)
    elif requests is not None:
        FrameServer(record, simulation, requests, messages, progress, position).serve()


def _versions(record: EpisodeRecord) -> dict[str, str | None]:
    """Of the packages that the record names, as they are here; None for one that is not here."""
    from importlib import metadata  # noqa: PLC0415 - slow to import

    def version(name: str) -> str | None:
        if name == "python":
            return platform.python_version()
        try:
            return metadata.version(name)
        except (metadata.PackageNotFoundError, ValueError):  # not here, or no name at all
            return None

    return {name: version(name) for name in record.packages}


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # an environment's own clean-up may hang, and nothing here needs it
