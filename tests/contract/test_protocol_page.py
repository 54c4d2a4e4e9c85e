"""`docs/protocol.md` documents the complete schema, and all its examples are valid."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from mosaic.contract import schema
from mosaic.contract.control import COMMAND_TYPES
from mosaic.contract.decode import RejectKind, decode
from mosaic.contract.descriptor import WorkerDescriptor, decode_descriptor
from mosaic.contract.events import EVENT_TYPES, UnknownEvent, tag_of
from mosaic.contract.manifest import decode_manifest
from mosaic.contract.parameters import Parameter
from mosaic.contract.process_records import ExitRecord, StartedRecord
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.worker_manifest import read_worker_manifest

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
SCHEMA = schema.protocol_schema()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


def documents() -> Iterator[Any]:
    """Every example: a block is one document, or one on each line."""
    for block in blocks("json"):
        if block.startswith("{\n"):
            yield json.loads(block)
        else:
            yield from map(json.loads, block.splitlines())


def section(heading: str) -> str:
    """The content below a heading, including subsections."""
    level = heading.partition(" ")[0]
    start = PAGE.index(f"\n{heading}\n") + len(heading)
    end = re.compile(rf"^#{{2,{len(level)}}} ", re.MULTILINE).search(PAGE, start + 2)
    return PAGE[start : end.start() if end else None]


def definition_of(document: dict[str, Any]) -> str:
    marks = {
        "type": "TelemetryLine",
        "event": "TelemetryLine",
        "cmd": "ControlCommand",
        "env_id": "TrainRunConfig",
        "tensorboard_dir": "ArtifactManifest",
        "algorithms": "WorkerDescriptor",
        "start_ticks": "StartedRecord",
        "exit_code": "ExitRecord",
    }
    return next(name for mark, name in marks.items() if mark in document)


def read_as(definition: str, document: dict[str, Any]) -> object:
    data = json.dumps(document).encode()
    match definition:
        case "TelemetryLine":
            return decode(data)
        case "TrainRunConfig":
            return load_run_config(data)
        case "ArtifactManifest":
            return decode_manifest(data)
        case "WorkerDescriptor":
            return decode_descriptor(data)
        case "StartedRecord":
            return msgspec.json.decode(data, type=StartedRecord)
        case "ExitRecord":
            return msgspec.json.decode(data, type=ExitRecord)
        case _:
            command = {kind.__struct_config__.tag: kind for kind in COMMAND_TYPES}
            return msgspec.json.decode(data, type=command[document["cmd"]])


@pytest.mark.parametrize("document", list(documents()), ids=lambda document: str(document)[:40])
def test_example_is_valid(document: dict[str, Any]) -> None:
    """Every example on the page is valid and can be decoded."""
    definition = definition_of(document)
    Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{definition}"}]}).validate(
        document
    )
    assert read_as(definition, document) is not None


def test_toml_example_is_valid(tmp_path: Path) -> None:
    """The `worker.toml` on the page can be read."""
    (block,) = blocks("toml")
    path = tmp_path / "worker.toml"
    path.write_text(block)
    assert read_worker_manifest(path).id == "echo_worker"


def test_everything_has_an_example() -> None:
    """Every event, command and document has one."""
    shown = list(documents())
    assert {tag_of(event) for event in EVENT_TYPES} <= {line.get("type") for line in shown}
    assert {kind.__struct_config__.tag for kind in COMMAND_TYPES} <= {
        line.get("cmd") for line in shown
    }
    unknown = [line for line in shown if line.get("type") == "weather"]
    assert isinstance(decode(json.dumps(unknown[0]).encode()), UnknownEvent)


@pytest.mark.parametrize("event", EVENT_TYPES, ids=tag_of)
def test_event_is_described(event: type[msgspec.Struct]) -> None:
    """Every field of an event is in its section, in bold exactly if it is required."""
    text = section(f"### `{event.__struct_config__.tag}`")
    for field in msgspec.structs.fields(event):
        if field.name == "agent_id":
            assert "`agent_id`" in section("## Events")
        else:
            assert f"`{field.encode_name}`" in text
            assert (f"| **`{field.encode_name}`** |" in text) == field.required


def fields_below(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    for field in msgspec.structs.fields(struct):
        inner = field.type
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            yield from fields_below(inner, f"{prefix}{field.encode_name}.")
        else:
            yield prefix + field.encode_name


@pytest.mark.parametrize("field", list(fields_below(TrainRunConfig)))
def test_configuration_field_is_described(field: str) -> None:
    """Every field of a run configuration is in its section by its full path."""
    row = re.compile(rf"^\| (\*\*)?`{re.escape(field)}`(\*\*)? \|", re.MULTILINE)
    assert row.search(section("## TrainRunConfig"))


@pytest.mark.parametrize("name", sorted(SCHEMA["$defs"]))
def test_every_field_of_the_schema_is_named(name: str) -> None:
    """The page names every field of the schema."""
    for field in SCHEMA["$defs"][name].get("properties", {}):
        assert re.search(rf"`([a-z_.]+\.)?{field}[`.]", PAGE), f"{name}.{field}"


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("## Rejected lines", [kind.value for kind in RejectKind]),
        ("## Control commands", [kind.__struct_config__.tag for kind in COMMAND_TYPES]),
        ("### `started.json`", StartedRecord.__struct_fields__),
        ("### `exit.json`", ExitRecord.__struct_fields__),
        ("## Descriptor", [*WorkerDescriptor.__struct_fields__, *Parameter.__struct_fields__]),
    ],
)
def test_section_is_complete(heading: str, names: list[str]) -> None:
    """Each section lists everything it is about."""
    text = section(heading)
    assert [name for name in names if f"`{name}`" not in text] == []


def test_one_sentence_per_line() -> None:
    """For readable diffs."""
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in prose.splitlines() if line and line[0] not in "|#"]
    assert [line for line in lines if re.search(r"[.!?] [A-Z]", line)] == []
