"""Control commands: what the daemon writes to a worker's stdin, one JSON object per line."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import INT64_MAX, copy_json, parse_json
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.problems import DocumentError, Problem
from mosaic.contract.text_types import Name
from mosaic.contract.validation import build, check

MAX_COMMAND_BYTES = 4096
"""Maximum length of a line with its newline. Linux writes up to this much to a pipe atomically."""
INVALID_COMMAND = "C131"
"""A control command is invalid."""


class ControlCommand(
    msgspec.Struct, tag_field="cmd", kw_only=True, frozen=True, omit_defaults=True
):
    """Fields of every command."""

    seq: Annotated[
        int,
        Meta(
            ge=0,
            le=INT64_MAX,
            description="Returned in the step and the frame that the command caused.",
        ),
    ]


class Stop(ControlCommand, tag="stop", kw_only=True, frozen=True):
    """Finish cleanly, write `bye`, and exit."""


class Pause(ControlCommand, tag="pause", kw_only=True, frozen=True):
    """Pause, and report it with a `status` line."""


class Resume(ControlCommand, tag="resume", kw_only=True, frozen=True):
    """Resume after a pause."""


class Reset(ControlCommand, tag="reset", kw_only=True, frozen=True):
    """Start a new episode."""

    seed: Annotated[int, Meta(ge=0, le=INT64_MAX)] | None = None


class Step(ControlCommand, tag="step", kw_only=True, frozen=True):
    """Take steps while paused."""

    count: Annotated[int, Meta(ge=1, le=INT64_MAX)] = 1


class Action(ControlCommand, tag="action", kw_only=True, frozen=True):
    """A person's action."""

    value: Annotated[Any, Meta(description="An action of the environment's action space.")]


class Takeover(ControlCommand, tag="takeover", kw_only=True, frozen=True):
    """Give control to the human player."""


class Release(ControlCommand, tag="release", kw_only=True, frozen=True):
    """Return control to the agent."""


class Speed(ControlCommand, tag="speed", kw_only=True, frozen=True):
    """Set the playback speed."""

    value: Annotated[float, Meta(ge=0, description="Multiple of real time; 0: unlimited.")]


class SetActor(ControlCommand, tag="set_actor", kw_only=True, frozen=True):
    """Switch to another actor."""

    actor: Name


class Configure(ControlCommand, tag="configure", kw_only=True, frozen=True):
    """Change the settings of a running session; omitted fields keep their value."""

    auto_reset: Annotated[
        bool | None, Meta(description="Start the next episode automatically.")
    ] = None
    env_kwargs: Annotated[
        dict[str, Any] | None,
        Meta(
            description="Recreate the environment with these keyword arguments at the next reset."
        ),
    ] = None


class Checkpoint(ControlCommand, tag="checkpoint", kw_only=True, frozen=True):
    """Save a checkpoint now."""


COMMAND_TYPES: tuple[type[ControlCommand], ...] = (
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


def decode_command(data: bytes, next_seq: int) -> ControlCommand:
    """Decode a command; one without a `seq` gets `next_seq`.

    Raises `DocumentError` with the invalid fields.
    """
    document, problems = parse_json(data)
    if not problems:
        document, problems = copy_json(document)
    if problems:
        raise _invalid_command(problems)
    tag = document.get("cmd") if isinstance(document, dict) else None
    kind = next((kind for kind in COMMAND_TYPES if kind.__struct_config__.tag == tag), None)
    if kind is None:
        known = ", ".join(f"`{kind.__struct_config__.tag}`" for kind in COMMAND_TYPES)
        raise _invalid_command(
            [Problem(("cmd",), "value", "is not a known command.", f"Expected one of {known}.")]
        )
    return build({"seq": next_seq, **document}, kind, _invalid_command)


def encode_command(command: ControlCommand) -> bytes:
    """Encode a command as a line with its newline.

    Raises `DocumentError` for a value that JSON cannot represent or a line over the limit.
    """
    fields, problems = copy_json(msgspec.structs.asdict(command))
    problems = problems or list(check(fields, type(command)))
    if problems:
        raise _invalid_command(problems)
    line = msgspec.json.encode(msgspec.convert(fields, type(command))) + b"\n"
    if len(line) > MAX_COMMAND_BYTES:
        message = f"is {len(line)} bytes long; the limit is {MAX_COMMAND_BYTES}."
        raise _invalid_command([Problem((), "document", message, "Send a smaller value.")])
    return line


def _invalid_command(problems: Sequence[Problem], *, source: str = "") -> DocumentError:
    return DocumentError(problems, source=source, document="control command", code=INVALID_COMMAND)


prebuild_decoders(*COMMAND_TYPES)
