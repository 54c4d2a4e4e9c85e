"""Logs sent to clients contain no secrets, wherever the stream is split."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.errors import UserError
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from mosaic.trainer.secrets.redaction import ByteRedactor
from mosaic.trainer.service.logs import LogBlock, LogFollower, RedactedLog
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.workers.worker_files import write_worker

KEY = "sk-secret-0123456789"
SPELLINGS = {KEY: "A_KEY", "sk-sec": "B_KEY", "abababab": "C_KEY"}
MARK = b"[secret A_KEY]"


def open_log(path: Path) -> RedactedLog:
    follower = LogFollower(path, UserError("not a regular file", remedy=""))
    return RedactedLog(follower, lambda: SPELLINGS)


def blocks(log: RedactedLog, *, is_finished: bool) -> Iterator[LogBlock]:
    while (block := log.read(is_finished=is_finished)) is not None:
        yield block


@given(
    st.lists(st.sampled_from([KEY, KEY[:9], KEY[9:], "sk-", "ab", "abababab", "x\n", "ü"])),
    st.lists(st.integers(0, 40)),
)
def test_redacting_in_parts_equals_redacting_the_whole(
    pieces: list[str], lengths: list[int]
) -> None:
    """For any split, the same text is replaced and no byte is lost or duplicated."""
    complete = "".join(pieces).encode()
    redactor = ByteRedactor(SPELLINGS)
    expected = redactor.redact(complete, is_final=True).data
    redacted, held, rest = b"", b"", complete
    for length in [*lengths, len(complete)]:
        held, rest = held + rest[:length], rest[length:]
        part = redactor.redact(held)
        redacted, held = redacted + part.data, held[part.end :]
    assert redacted + redactor.redact(held, is_final=True).data == expected
    assert KEY.encode() not in expected
    if not any(spelling.encode() in complete for spelling in SPELLINGS):
        assert expected == complete


def test_a_log_without_secrets_is_unchanged(tmp_path: Path) -> None:
    """Including invalid UTF-8 and a last line without a newline."""
    path = tmp_path / "worker.log"
    path.write_bytes(bytes(range(256)) * 1000 + b"sk-")
    log = open_log(path)
    parts = list(blocks(log, is_finished=True))
    assert b"".join(part.data for part in parts) == path.read_bytes()
    assert parts[-1].end == path.stat().st_size
    log.close()


def test_a_secret_that_is_written_in_two_parts(tmp_path: Path) -> None:
    """The first part is held back until the second is written; the offset is that of the file."""
    path = tmp_path / "worker.log"
    path.write_bytes(b"key=" + KEY[:5].encode())
    log = open_log(path)
    assert list(blocks(log, is_finished=False)) == [LogBlock(4, b"key=")]
    with path.open("ab") as file:
        file.write(KEY[5:].encode() + b"\nnext\n")
    assert list(blocks(log, is_finished=False)) == [
        LogBlock(path.stat().st_size, MARK + b"\nnext\n"),
    ]
    log.close()


def test_reading_from_any_offset(tmp_path: Path) -> None:
    """An offset inside a secret does not expose a part of it."""
    path = tmp_path / "worker.log"
    path.write_bytes(f"before {KEY} after\n".encode())
    for offset in range(8, 7 + len(KEY)):
        log = open_log(path)
        log.seek(offset)
        (part,) = blocks(log, is_finished=True)
        assert part == LogBlock(path.stat().st_size, MARK + b" after\n")
        log.close()
    log = open_log(path)
    log.seek(7 + len(KEY))
    assert [part.data for part in blocks(log, is_finished=True)] == [b" after\n"]
    log.close()


def test_a_log_that_is_truncated_while_bytes_are_held_back(tmp_path: Path) -> None:
    """The new content is read from its start."""
    path = tmp_path / "worker.log"
    path.write_bytes(b"a long line sk-")
    log = open_log(path)
    assert [part.data for part in blocks(log, is_finished=False)] == [b"a long line "]
    path.write_bytes(b"new\n")
    assert list(blocks(log, is_finished=False)) == [LogBlock(4, b"new\n")]
    log.close()


LEAKY_WORKER = """
import json, os, sys
if "--describe" in sys.argv:
    descriptor = {"worker": "leaky", "version": "1", "modes": ["train"]}
    descriptor |= {"environments": {"any": True}, "algorithms": [{"id": "x", "label": "x"}]}
    descriptor |= {"needs": {"credentials": ["LEAKY_API_KEY"]}}
    print(json.dumps(descriptor))
    sys.exit()
key = os.environ["LEAKY_API_KEY"]
print("the key is " + key + ", quoted " + json.dumps(key), file=sys.stderr)
step = {"type": "step", "episode_id": "e", "action": 0, "reward": 0.0, "info": {"k": key}}
step |= {"terminated": False, "truncated": False}
for number in range(600):
    print(json.dumps(step | {"step": number}))
sys.stdout.buffer.write(b"\\xff" + key.encode() + b" is not an event\\n")
"""


@pytest.mark.process
def test_logs_and_archives_contain_no_secret(tmp_path: Path) -> None:
    """In any encoding or compression; an imported archive is ingested again."""
    key = 'hunter2"hunter2\\hunter2'
    write_worker(tmp_path / "workers", "leaky", main=LEAKY_WORKER)
    daemon = DaemonUnderTest(tmp_path)
    daemon.environment["LEAKY_API_KEY"] = key
    daemon.home.trainer.mkdir(parents=True)
    daemon.home.settings.write_text(f'worker_folders = ["{tmp_path / "workers"}"]\n')
    try:
        daemon.start()
        config = {"worker": "leaky", "algo": "x", "env_id": "E-v0"}
        request = pb.SubmitRunRequest(config_json=json.dumps(config).encode())
        run_id = daemon.stub.SubmitRun(request).run_id
        assert daemon.until(run_id).state == RunState.SUCCEEDED
        log = b"".join(p.data for p in daemon.stub.StreamLogs(pb.StreamLogsRequest(run_id=run_id)))
        assert b"the key is [secret LEAKY_API_KEY], quoted" in log
        assert b"hunter2" not in log
        parts = list(daemon.stub.ExportRun(pb.RunRef(run_id=run_id)))
        plain = gzip.decompress(b"".join(part.data for part in parts))
        assert b"hunter2" not in plain
        assert b"/telemetry.jsonl" in plain
        assert b"/telemetry.db" not in plain
        assert b"/rejects.jsonl" not in plain
        daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
        assert daemon.stub.ImportRun(iter(parts)).digest.steps == 600
        counts = eventually(lambda: daemon.stub.GetStats(pb.RunRef(run_id=run_id)))
        assert (counts.steps, counts.rejects) == (600, 1)
        assert not daemon.record(run_id).warnings
        output = daemon.stub.GetRun(pb.RunRef(run_id=run_id)).output_tail
        assert output[0].startswith("the key is ***")
    finally:
        daemon.clean_up()
