"""No response and no archive contains a secret that a worker has written."""

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from mosaic.client import TrainerClient
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.service.response_redaction import ResponseRedactor
from tests.support.daemon import DaemonUnderTest

_KEY = "sk-0123456789abcdef"
_SPELLINGS = {_KEY: "SOME_API_KEY"}


@pytest.fixture
def redactor() -> ResponseRedactor:
    return ResponseRedactor(lambda: _SPELLINGS)


def _serialized(redactor: ResponseRedactor, message: Any) -> bytes:
    data = redactor.serialize(message, type(message).SerializeToString)
    assert _KEY.encode() not in data
    return data


@pytest.mark.parametrize(
    "message",
    [
        pb.RunRecord(reason=f"said {_KEY}", tags=["a", _KEY]),
        pb.RunPage(runs=[pb.RunRecord(run_id="x"), pb.RunRecord(warnings=[_KEY])]),
        pb.Checkpoint(path=f"checkpoints/{_KEY}.pt", meta_json=json.dumps({"k": _KEY}).encode()),
        pb.EventBatch(events=[pb.EventLine(line=_KEY.encode())]),
        pb.StepLines(lines=[b"{}", _KEY.encode()]),
    ],
    ids=lambda message: type(message).__name__,
)
def test_every_text_field_is_redacted(redactor: ResponseRedactor, message: Any) -> None:
    """Texts, bytes, lists and nested messages; the message of the caller is not changed."""
    before = message.SerializeToString()
    assert b"[secret SOME_API_KEY]" in _serialized(redactor, message)
    assert message.SerializeToString() == before


def test_maps_are_redacted(redactor: ResponseRedactor) -> None:
    """Both names and values are redacted."""
    message = pb.BundleUse(packages={_KEY: "1", "b": _KEY})
    redacted = pb.BundleUse.FromString(_serialized(redactor, message))
    assert dict(redacted.packages) == {
        "[secret SOME_API_KEY]": "1",
        "b": "[secret SOME_API_KEY]",
    }


def test_pixels_and_archives_are_not_changed(redactor: ResponseRedactor) -> None:
    """Even if binary data contains the bytes of a secret."""
    message = pb.Frame(pixels=_KEY.encode())
    assert redactor.serialize(message, pb.Frame.SerializeToString) == message.SerializeToString()


def test_compressed_lines_are_redacted(redactor: ResponseRedactor) -> None:
    """The number of lines stays; a chunk without a secret is not compressed again."""
    clean = zstandard.compress(b"{}\n{}")
    assert redactor.redact_chunk(clean) is clean
    data = zstandard.compress(json.dumps({"info": _KEY}).encode() + b"\n{}")
    lines = zstandard.decompress(redactor.redact_chunk(data)).split(b"\n")
    assert [json.loads(line) for line in lines] == [{"info": "[secret SOME_API_KEY]"}, {}]


def test_file_names_in_exports_are_masked(tmp_path: Path) -> None:
    """Two files whose masked names are equal are both exported."""
    run = Home(tmp_path).run(new_ulid())
    run.path.mkdir(parents=True)
    run.config.write_text("{}")
    other = "sk-fedcba9876543210"
    for secret in (_KEY, other):
        (run.path / f"{secret}.txt").write_text(secret)
    data = b"".join(export_run(run, secrets=[_KEY, other]))
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        names = [Path(name).name for name in archive.getnames()]
        contents = b"".join(_contents(archive))
    masked = "*" * len(_KEY)
    assert {f"{masked}.txt", f"{masked}.txt-2"} <= set(names)
    assert _KEY.encode() not in contents
    assert other.encode() not in contents


def _contents(archive: tarfile.TarFile) -> Iterator[bytes]:
    for member in archive:
        file = archive.extractfile(member)
        assert file is not None
        yield member.name.encode() + file.read()


@pytest.mark.process
def test_a_key_in_telemetry_is_not_returned(tmp_path: Path) -> None:
    """Steps, events, the reason and the record of a run whose worker writes the key."""
    daemon = DaemonUnderTest(tmp_path)
    daemon.environment = {"SOME_API_KEY": _KEY}
    try:
        assert daemon.start().startswith("ready ")
        run_id = daemon.submit(steps=3)
        daemon.until(run_id, RunState.SUCCEEDED)
        daemon.stop()
        with daemon.run(run_id).spool.open("a") as spool:
            for line in (
                {"type": "step", "episode_id": "k", "step": 0, "action": 0, "reward": 0.0}
                | {"terminated": False, "truncated": False, "info": {"key": _KEY}},
                {"type": "metric", "name": f"loss/{_KEY}", "value": 1.0, "step": 1},
                {"type": "log", "level": "info", "message": f"the key is {_KEY}"},
                {"type": "status", "state": "running", "reason": f"with {_KEY}"},
                {"type": "artifact", "kind": "file", "path": f"{_KEY}.bin", "meta": {"k": _KEY}},
            ):
                spool.write(json.dumps(line) + "\n")
        for file in daemon.home.trainer.glob("trainer.db*"):
            file.unlink()  # the rebuilt registry stores the new lines, too
        daemon.restart()
        with TrainerClient.connect(daemon.home) as client:
            client.wait(run_id, timeout_s=60)
            received = [
                *client.steps(run_id),
                *client.metrics(run_id),
                *client.events(run_id),
                *client.series(run_id),
                client.run(run_id),
            ]
        texts = "".join(map(repr, received))
        assert "[secret SOME_API_KEY]" in texts
        assert _KEY not in texts
        assert any("'k'" in repr(item) for item in received), "the new lines were not stored"
    finally:
        daemon.clean_up()
