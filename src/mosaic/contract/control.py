"""Control commands: what the daemon writes to a worker's stdin, one JSON object per line."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import INT64_MAX, copy_json, parse_json
from mosaic.contract.problems import DocumentError, Problem
from mosaic.contract.shape import build, check
from mosaic.contract.text_types import Name
from mosaic.contract.type_info import work_out

MAX_COMMAND_BYTES = 4096
"""A line with its newline. Linux writes this much to a pipe whole or not at all."""


class ControlError(DocumentError):
    """A command cannot be sent."""

    document = "control command"
    default_code = "C131"


class Command(msgspec.Struct, tag_field="cmd", kw_only=True, frozen=True, omit_defaults=True):
    """What every command carries."""

    seq: Annotated[
        int,
        Meta(ge=0, le=INT64_MAX, description="Comes back in the step and frame that it caused."),
    ]


class Stop(Command, tag="stop", kw_only=True, frozen=True):
    """Finish what must be finished, say `bye`, and exit."""


class Pause(Command, tag="pause", kw_only=True, frozen=True):
    """Stand still, and say so with a `status` line."""


class Resume(Command, tag="resume", kw_only=True, frozen=True):
    """Go on after a pause."""


class Reset(Command, tag="reset", kw_only=True, frozen=True):
    """Begin a new episode."""

    seed: Annotated[int, Meta(ge=0, le=INT64_MAX)] | None = None


class Step(Command, tag="step", kw_only=True, frozen=True):
    """Take steps while paused."""

    count: Annotated[int, Meta(ge=1, le=INT64_MAX)] = 1


class Action(Command, tag="action", kw_only=True, frozen=True):
    """A person's action."""

    value: Annotated[Any, Meta(description="An action of the environment's action space.")]


class Takeover(Command, tag="takeover", kw_only=True, frozen=True):
    """From now on a person acts."""


class Release(Command, tag="release", kw_only=True, frozen=True):
    """From now on the agent acts again."""


class Speed(Command, tag="speed", kw_only=True, frozen=True):
    """How fast to play."""

    value: Annotated[float, Meta(ge=0, description="Times real time; 0: as fast as it can.")]


class SetActor(Command, tag="set_actor", kw_only=True, frozen=True):
    """Let another actor act."""

    actor: Name


class Configure(Command, tag="configure", kw_only=True, frozen=True):
    """Change how a session goes on; what is left out stays as it is."""

    auto_reset: Annotated[
        bool | None, Meta(description="Whether a new episode begins by itself after the last.")
    ] = None
    env_kwargs: Annotated[
        dict[str, Any] | None,
        Meta(description="The environment is made again with these at the next reset."),
    ] = None


class Checkpoint(Command, tag="checkpoint", kw_only=True, frozen=True):
    """Save a checkpoint now."""


COMMAND_TYPES: tuple[type[Command], ...] = (
    Stop,
    Pause,
    Resume,
    Reset,
    Step,
    Action,
    Takeover,
    Release,
    Speed,
    SetActor,
    Configure,
    Checkpoint,
)


def decode_command(data: bytes, next_seq: int) -> Command:
    """The command in `data`; one without a `seq` gets `next_seq`.

    Raises `ControlError`, naming the fields.
    """
    document, problems = parse_json(data)
    if not problems:
        document, problems = copy_json(document)
    if problems:
        raise ControlError(problems)
    word = document.get("cmd") if isinstance(document, dict) else None
    kind = next((kind for kind in COMMAND_TYPES if kind.__struct_config__.tag == word), None)
    if kind is None:
        known = ", ".join(f"`{kind.__struct_config__.tag}`" for kind in COMMAND_TYPES)
        raise ControlError([Problem(("cmd",), "value", "is no command.", f"Commands: {known}.")])
    return build({"seq": next_seq, **document}, kind, ControlError, "")


def encode_command(command: Command) -> bytes:
    """The line to write, newline included.

    Raises `ControlError` for a value that JSON cannot hold or a line over the limit.
    """
    fields, problems = copy_json(msgspec.structs.asdict(command))
    problems = problems or list(check(fields, type(command)))
    if problems:
        raise ControlError(problems)
    line = msgspec.json.encode(msgspec.convert(fields, type(command))) + b"\n"
    if len(line) > MAX_COMMAND_BYTES:
        message = f"takes {len(line)} bytes; a line may have {MAX_COMMAND_BYTES}."
        raise ControlError([Problem((), "document", message, "Send a smaller value.")])
    return line


work_out(*COMMAND_TYPES)
