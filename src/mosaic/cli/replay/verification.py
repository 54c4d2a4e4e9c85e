"""`mosaic replay --verify`: whether the episode comes out as recorded, in words or as JSON."""

import importlib
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.cli import formats
from mosaic.cli.bundle_offer import with_its_bundle
from mosaic.cli.output import result_console, say
from mosaic.cli.replay.progress import ReplayProgress
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient
    from mosaic.replay.verification import Verification


def verify_episode(
    client: "TrainerClient", run_id: str, episode: int, install: bool | None
) -> dict[str, Any]:
    """What came of it, as a document; an episode that cannot be replayed is not identical."""
    verify = importlib.import_module("mosaic.replay.verification").verify

    def attempt() -> "Verification":
        with ReplayProgress("comparing", "steps") as progress:
            outcome: Verification = verify(client, run_id, episode, on_progress=progress.show)
            return outcome

    client.episode(run_id, episode)  # one that is not there is a mistake, not a result
    try:
        outcome = with_its_bundle(client, run_id, install, attempt)
    except DaemonUnreachableError:
        raise
    except UserError as error:
        return {
            "identical": False,
            "steps": 0,
            "first_difference": None,
            "difference": "",
            "warnings": [],
            "error": error.message,
            "remedy": error.remedy,
            "code": error.code,
        }
    return msgspec.structs.asdict(outcome)


def print_verification(document: dict[str, Any]) -> None:
    """The outcome, with its run and episode, on stdout; what to be warned of on stderr."""
    for warning in document["warnings"]:
        say(f"Warning: {warning}", style="yellow")
    console = result_console()
    steps = formats.amount(document["steps"], "step")
    if document["identical"]:
        console.print(f"Identical: {steps}, every reward and end flag.", style="green")
    elif document.get("error"):
        console.print(f"Not verified: {document['error']}", style="red", soft_wrap=True)
        say(document["remedy"])
    else:
        console.print(f"Different at {document['difference']}", style="red", soft_wrap=True)
        run, episode = formats.short_id(document["run_id"]), document["episode"]
        shows = f"`mosaic telemetry {run} steps --episode {episode}` shows it"
        say(f"The recorded telemetry is not touched: {shows}.")
