"""The JSON Schema in `docs/` matches what the structs enforce."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mosaic.contract import control, schema
from mosaic.contract.decode import RejectedLineError, decode
from mosaic.contract.descriptor import decode_descriptor
from mosaic.contract.events import EVENT_TYPES, tag_of
from mosaic.contract.manifest import ArtifactFile, ArtifactManifest, encode_manifest
from mosaic.contract.run_config import RunConfigError, load_run_config, to_json
from mosaic.contract.worker_manifest import WorkerManifest

SCHEMA = schema.protocol_schema()
REPOSITORY = Path(__file__).parents[2]
GOLDEN_LINES = [
    '{"type":"config","run_id":"...","algo":"ppo","env_id":"LunarLander-v3","seed":123,"args":{}}',
    (
        '{"type":"step","episode_id":"...","step":42,"action":1,"reward":1.0,"terminated":false,'
        '"truncated":false,"obs":{},"t":1700.512}'
    ),
    '{"type":"episode","episode_id":"...","steps":512,"return":241.7,"t_end":1712.004}',
    '{"type":"metric","name":"policy_loss","value":0.0042,"t":1712.100}',
    (
        '{"type":"bdi","step":1200,"agent_id":"learner","added":["phase(consolidate)"],'
        '"removed":["phase(explore)"],"goals":["train(50)"],"intentions":[{"goal":"train(50)",'
        '"plan":"consolidate","depth":2}],"plan":"consolidate","confidence":0.62,"t":1712.2}'
    ),
]

WITHOUT_DEADLINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""No deadline, because the machine may be busy."""


def validator(definition: str) -> Draft202012Validator:
    return Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{definition}"}]})


LINES = validator("TelemetryLine")
CONFIGS = validator("TrainRunConfig")


def test_file_is_current() -> None:
    """`docs/protocol.schema.json` is what the structs generate."""
    assert schema.main(["--check", "--file", str(REPOSITORY / schema.SCHEMA_FILE)]) == 0


def test_outdated_file_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` fails for a missing or changed file and names the command; `--write` repairs it."""
    path = tmp_path / "schema.json"
    assert schema.main(["--check", "--file", str(path)]) == 1
    assert "--write" in capsys.readouterr().err
    assert schema.main(["--write", "--file", str(path)]) == 0
    assert schema.main(["--check", "--file", str(path)]) == 0


def test_schema_is_valid() -> None:
    """The schema itself is valid and deterministic."""
    Draft202012Validator.check_schema(SCHEMA)
    assert schema.schema_text() == schema.schema_text()


@pytest.mark.parametrize("line", GOLDEN_LINES)
def test_golden_lines_are_valid(line: str) -> None:
    """The example lines of the contract are valid."""
    LINES.validate(json.loads(line))


@pytest.mark.parametrize(
    "line",
    [
        {"type": "hologram", "anything": 1},
        {"event": "artifacts", "video": "v.mp4", "wandb_url": "https://x"},
        {"type": "step", "episode_id": "e", "step": 0, "action": [0.1], "reward": "NaN"}
        | {"terminated": False, "truncated": True, "colour": "red"},
        {"type": "metric", "values": {"a": 1, "b": "-Infinity"}, "agent_id": "blue"},
    ],
)
def test_unknown_types_older_forms_and_extra_fields_are_valid(line: dict[str, Any]) -> None:
    """Everything that ingest stores is valid."""
    LINES.validate(line)
    decode(json.dumps(line).encode())


@pytest.mark.parametrize(
    "line",
    [
        {},
        [],
        {"type": 1},
        {"type": "step", "episode_id": "e", "step": -1},
        {"type": "metric", "name": "loss"},
        {"type": "metric", "name": "loss", "value": 1, "values": {}},
        {"type": "artifact", "kind": "video"},
        {"type": "steps", "episode_id": "e", "first": 0, "actions": [], "rewards": []},
        {"type": "bye", "outcome": "fine"},
        {"type": "bye", "event": "artifacts"},
    ],
)
def test_what_is_rejected_is_invalid(line: Any) -> None:
    """Lines that ingest rejects are invalid by the schema."""
    assert not LINES.is_valid(line)
    with pytest.raises(RejectedLineError):
        decode(json.dumps(line).encode())


FIELD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: number % 1 != 0),
    st.sampled_from(["", "e1", "NaN", "video", "pcg64", "paused", "failed", "x" * 257]),
    st.just([]),
    st.just([1]),
    st.just({}),
    st.just({"a": 1}),
    st.just({"kind": "ale", "data": "00"}),
)


@st.composite
def event_lines(draw: Callable[[st.SearchStrategy[Any]], Any]) -> dict[str, Any]:
    """A line of a known type, with valid and invalid values."""
    event = draw(st.sampled_from(EVENT_TYPES))
    line = {"type": tag_of(event)}
    for field in msgspec.structs.fields(event):
        if field.required or draw(st.booleans()):
            line[field.encode_name] = draw(FIELD_VALUES)
    return line


@WITHOUT_DEADLINE
@given(event_lines())
def test_schema_and_decoder_agree(line: dict[str, Any]) -> None:
    """A line is valid by the schema exactly if ingest accepts it."""
    try:
        decode(json.dumps(line).encode())
        is_accepted = True
    except RejectedLineError:
        is_accepted = False
    assert LINES.is_valid(line) == is_accepted


@WITHOUT_DEADLINE
@given(
    st.dictionaries(
        st.sampled_from(sorted(SCHEMA["$defs"]["TrainRunConfig"]["properties"])), FIELD_VALUES
    )
)
def test_schema_and_run_config_agree(changes: dict[str, Any]) -> None:
    """A configuration is valid by the schema exactly if it loads."""
    document = {"worker": "w", "algo": "a", "env_id": "E-v0"} | changes
    try:
        load_run_config(document)
        loads = True
    except RunConfigError:
        loads = False
    assert CONFIGS.is_valid(document) == loads


def test_stored_documents_are_valid() -> None:
    """Documents that this package writes are valid by its schema."""
    config = load_run_config({"worker": "w", "algo": "a", "env_id": "E-v0", "seeds": [1]})
    CONFIGS.validate(json.loads(to_json(config)))
    entry = ArtifactFile(path="videos/v.mp4", size_bytes=1, t=1.0)
    manifest = encode_manifest(ArtifactManifest(videos=(entry,), tensorboard_dir="runs/x"))
    validator("ArtifactManifest").validate(json.loads(manifest))
    descriptor = decode_descriptor(b'{"worker": "w", "algorithms": [{"id": "a"}]}')
    validator("WorkerDescriptor").validate(json.loads(msgspec.json.encode(descriptor)))
    worker = WorkerManifest(id="w", label="W", module="w.cli")
    validator("WorkerManifest").validate(msgspec.to_builtins(worker))
    commands = validator("ControlCommand")
    commands.validate(json.loads(control.encode_command(control.Action(seq=1, value=0))))
    assert not commands.is_valid({"cmd": "dance", "seq": 1})


@pytest.mark.parametrize(
    ("definition", "document"),
    [
        ("ArtifactManifest", {"tensorboard_dir": "/abs"}),
        ("ArtifactManifest", {"tensorboard_dir": "a/../../b"}),
        ("TrainRunConfig", {"worker": "w", "algo": "a", "env_id": "E", "artifacts": {"x": 1}}),
        ("TrainRunConfig", {"worker": "w", "env_id": "E"}),
        ("TrainRunConfig", {"worker": "w\n", "algo": "a", "env_id": "E"}),
        ("WorkerManifest", {"id": "w", "label": "W", "module": "w", "python": "3"}),
        ("WorkerDescriptor", {"worker": "w", "lane": "fast"}),
    ],
)
def test_rejected_documents_are_invalid(definition: str, document: dict[str, Any]) -> None:
    """Rejected documents are invalid by the schema."""
    assert not validator(definition).is_valid(document)
