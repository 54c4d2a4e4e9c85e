"""What an episode was: environment, start, length, return, and whether it can be replayed."""

import json
from typing import TYPE_CHECKING, Any

import msgspec

from mosaic.cli import formats
from mosaic.cli.bundle_offer import missing_bundle
from mosaic.cli.output import print_fields, result_console, say
from mosaic.contract.decode import decode
from mosaic.contract.episodes import EpisodeDetails
from mosaic.contract.events import EnvironmentEvent, EpisodeEnd, EpisodeStart

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_STARTS = {
    "pcg64": "as the random numbers were just before it",
    "ale": "from a state of the emulator",
    "state": "from a recorded state",
}


def episode_document(client: "TrainerClient", run_id: str, ordinal: int) -> dict[str, Any]:
    """Everything that is known of it, as one JSON object."""
    details = client.episode(run_id, ordinal)
    environment = _environment(details)
    begun = _begun(details)
    run = client.run(run_id).run
    return {
        "run_id": run_id,
        "run_name": run.name,
        **msgspec.structs.asdict(details.episode),
        "env_id": environment.env_id if environment else run.env_id,
        "env_kwargs": _kwargs(environment, begun),
        "env_index": begun.env_index if begun else None,
        "max_episode_steps": environment.max_episode_steps if environment else None,
        "seed": begun.seed if begun else None,
        "start": begun.start.kind if begun and begun.start else None,
        "packages": (environment.packages if environment else None) or {},
        "replayable": not details.not_replayable,
        "not_replayable": details.not_replayable,
        "install": "" if details.not_replayable else missing_bundle(client, run_id),
    }


def print_episode(document: dict[str, Any]) -> None:
    """The same for people."""
    run_id, ordinal = document["run_id"], document["episode"]
    title = document["run_name"] or formats.short_id(run_id)
    result_console().print(f"Episode {ordinal} of {title}", style="bold")
    kwargs = document["env_kwargs"]
    print_fields(
        [
            ("run", run_id),
            ("environment", document["env_id"]),
            ("made with", json.dumps(kwargs, ensure_ascii=False) if kwargs else ""),
            (
                "in vector",
                "" if document["env_index"] is None else f"place {document['env_index']}",
            ),
            ("agent", document["agent_id"] or ""),
            ("start", _start_words(document)),
            ("steps", f"{document['steps']:,}"),
            ("return", formats.real(document["total_return"])),
            ("end", _end_words(document)),
            ("replay", _replay_words(document)),
        ]
    )
    short = formats.short_id(run_id)
    if document["replayable"]:
        say(f"`mosaic replay {short} {ordinal} --verify` proves it; --mp4 FILE makes a video.")
    else:
        say(f"`mosaic telemetry {short} steps --episode {ordinal}` shows what was recorded.")
        if document["start"] is None and document["seed"] is None:
            say("Train with `--telemetry columns` to record what a replay needs.")


def _environment(details: EpisodeDetails) -> EnvironmentEvent | None:
    event = decode(details.environment_json) if details.environment_json else None
    return event if isinstance(event, EnvironmentEvent) else None


def _begun(details: EpisodeDetails) -> EpisodeStart | EpisodeEnd | None:
    """The line that says how it began: of a short episode that is the one of its end."""
    for line in (details.start_json, details.end_json):
        event = decode(line) if line else None
        if isinstance(event, (EpisodeStart, EpisodeEnd)):
            return event
    return None


def _kwargs(
    environment: EnvironmentEvent | None, begun: EpisodeStart | EpisodeEnd | None
) -> dict[str, Any]:
    if begun is not None and begun.env_kwargs is not None:
        return begun.env_kwargs
    return (environment.env_kwargs if environment else None) or {}


def _start_words(document: dict[str, Any]) -> str:
    if document["start"]:
        return _STARTS[document["start"]]
    return "" if document["seed"] is None else f"seed {document['seed']}"


def _replay_words(document: dict[str, Any]) -> str:
    if not document["replayable"]:
        return f"no: {document['not_replayable']}"
    needed = document["install"]
    return f"yes, after `{needed}`: its bundle is not installed" if needed else "yes"


def _end_words(document: dict[str, Any]) -> str:
    for word in ("terminated", "truncated"):
        if document[word]:
            return word
    return "over" if document["is_over"] else "not over"
