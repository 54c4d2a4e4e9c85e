"""An episode: environment, start, length, return, and whether it can be replayed."""

import json
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.cli.bundles import missing_bundle
from mosaic.cli.formatting import format_number, short_id
from mosaic.cli.render import print_fields, print_message, result_console
from mosaic.contract.decode import decode
from mosaic.contract.episodes import EpisodeDetails
from mosaic.contract.events import EnvironmentEvent, EpisodeEnd, EpisodeStart

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_STARTS = {
    "pcg64": "recorded state of the random number generator",
    "ale": "recorded state of the emulator",
    "state": "recorded state",
}


def episode_document(client: "TrainerClient", run_id: str, ordinal: int) -> dict[str, Any]:
    """Return everything known about the episode as one JSON object."""
    details = client.episode(run_id, ordinal)
    environment = _environment(details)
    start = _start_event(details)
    run = client.run(run_id).run
    return {
        "run_id": run_id,
        "run_name": run.name,
        **msgspec.structs.asdict(details.episode),
        "env_id": environment.env_id if environment else run.env_id,
        "env_kwargs": _kwargs(environment, start),
        "env_index": start.env_index if start else None,
        "max_episode_steps": environment.max_episode_steps if environment else None,
        "seed": start.seed if start else None,
        "start": start.start.kind if start and start.start else None,
        "packages": (environment.packages if environment else None) or {},
        "replayable": not details.not_replayable,
        "not_replayable": details.not_replayable,
        "install": "" if details.not_replayable else missing_bundle(client, run_id),
    }


def print_episode(document: dict[str, Any]) -> None:
    """Print the document as a list of fields."""
    run_id, ordinal = document["run_id"], document["episode"]
    title = document["run_name"] or short_id(run_id)
    result_console().print(f"Episode {ordinal} of {title}", style="bold")
    kwargs = document["env_kwargs"]
    print_fields(
        [
            ("run", run_id),
            ("environment", document["env_id"]),
            ("env kwargs", json.dumps(kwargs, ensure_ascii=False) if kwargs else ""),
            (
                "env index",
                "" if document["env_index"] is None else f"{document['env_index']}",
            ),
            ("agent", document["agent_id"] or ""),
            ("start", _start_text(document)),
            ("steps", f"{document['steps']:,}"),
            ("return", format_number(document["total_return"])),
            ("end", _end_text(document)),
            ("replay", _replay_text(document)),
        ]
    )
    short = short_id(run_id)
    if document["replayable"]:
        print_message(
            f"`mosaic replay {short} {ordinal} --verify` verifies it; --mp4 FILE writes a video."
        )
    else:
        print_message(
            f"`mosaic telemetry {short} steps --episode {ordinal}` shows what was recorded."
        )
        if document["start"] is None and document["seed"] is None:
            print_message("Train with `--telemetry columns` to record replayable episodes.")


def _environment(details: EpisodeDetails) -> EnvironmentEvent | None:
    event = decode(details.environment_json) if details.environment_json else None
    return event if isinstance(event, EnvironmentEvent) else None


def _start_event(details: EpisodeDetails) -> EpisodeStart | EpisodeEnd | None:
    """Return the event with the start; a short episode has it in its end event."""
    for line in (details.start_json, details.end_json):
        event = decode(line) if line else None
        if isinstance(event, (EpisodeStart, EpisodeEnd)):
            return event
    return None


def _kwargs(
    environment: EnvironmentEvent | None, start: EpisodeStart | EpisodeEnd | None
) -> dict[str, Any]:
    if start is not None and start.env_kwargs is not None:
        return start.env_kwargs
    return (environment.env_kwargs if environment else None) or {}


def _start_text(document: dict[str, Any]) -> str:
    if document["start"]:
        return _STARTS[document["start"]]
    return "" if document["seed"] is None else f"seed {document['seed']}"


def _replay_text(document: dict[str, Any]) -> str:
    if not document["replayable"]:
        return f"no: {document['not_replayable']}"
    command = document["install"]
    return f"yes, after `{command}`: its bundle is not installed" if command else "yes"


def _end_text(document: dict[str, Any]) -> str:
    for word in ("terminated", "truncated"):
        if document[word]:
            return word
    return "ended" if document["is_over"] else "not ended"
