"""A log that clients read holds no secret, in however many parts it was written or is read."""

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
    follower = LogFollower(path, UserError("no ordinary file", remedy=""))
    return RedactedLog(follower, lambda: SPELLINGS)


def blocks(log: RedactedLog, *, is_finished: bool) -> Iterator[LogBlock]:
    while (block := log.read(is_finished=is_finished)) is not None:
        yield block


@given(
    st.lists(st.sampled_from([KEY, KEY[:9], KEY[9:], "sk-", "ab", "abababab", "x\n", "ü"])),
    st.lists(st.integers(0, 40)),
)
def test_any_parts_give_what_the_whole_gives(pieces: list[str], lengths: list[int]) -> None:
    """Wherever a stream is cut, the same is replaced and nothing is lost or doubled."""
    whole = "".join(pieces).encode()
    redactor = ByteRedactor(SPELLINGS)
    expected = redactor.redact(whole, is_final=True).data
    shown, held, rest = b"", b"", whole
    for length in [*lengths, len(whole)]:
        held, rest = held + rest[:length], rest[length:]
        part = redactor.redact(held)
        shown, held = shown + part.data, held[part.end :]
    assert shown + redactor.redact(held, is_final=True).data == expected
    assert KEY.encode() not in expected
    if not any(spelling.encode() in whole for spelling in SPELLINGS):
        assert expected == whole


def test_a_log_without_secrets_comes_byte_for_byte(tmp_path: Path) -> None:
    """Also bytes that are not text, and a last line without its end."""
    path = tmp_path / "worker.log"
    path.write_bytes(bytes(range(256)) * 1000 + b"sk-")
    log = open_log(path)
    parts = list(blocks(log, is_finished=True))
    assert b"".join(part.data for part in parts) == path.read_bytes()
    assert parts[-1].end == path.stat().st_size
    log.close()


def test_a_secret_that_is_written_in_two_halves(tmp_path: Path) -> None:
    """The first half waits for the second; the place is that in the file."""
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


def test_reading_on_from_any_place(tmp_path: Path) -> None:
    """A place in the middle of a secret shows no half of it."""
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


def test_a_log_that_is_cut_while_something_is_held(tmp_path: Path) -> None:
    """The new content is read from its start."""
    path = tmp_path / "worker.log"
    path.write_bytes(b"a long line sk-")
    log = open_log(path)
    assert [part.data for part in blocks(log, is_finished=False)] == [b"a long line "]
    path.write_bytes(b"new\n")
    assert list(blocks(log, is_finished=False)) == [LogBlock(4, b"new\n")]
    log.close()


LEAKS = """
import json, os, sys
if "--describe" in sys.argv:
    told = {"worker": "leaky", "version": "1", "modes": ["train"], "environments": {"any": True}}
    told |= {"needs": {"credentials": ["LEAKY_API_KEY"]}, "algorithms": [{"id": "x", "label": "x"}]}
    print(json.dumps(told))
    sys.exit()
key = os.environ["LEAKY_API_KEY"]
print("the key is " + key + ", quoted " + json.dumps(key), file=sys.stderr)
step = {"type": "step", "episode_id": "e", "action": 0, "reward": 0.0, "info": {"k": key}}
step |= {"terminated": False, "truncated": False}
for number in range(600):
    print(json.dumps(step | {"step": number}))
sys.stdout.buffer.write(b"\\xff" + key.encode() + b" is no event\\n")
"""


@pytest.mark.process
def test_no_secret_leaves_by_a_log_or_an_archive(tmp_path: Path) -> None:
    """Nor in another spelling, nor compressed; what is imported again is stored again."""
    key = 'hunter2"hunter2\\hunter2'
    write_worker(tmp_path / "workers", "leaky", main=LEAKS)
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
