"""Malformed and hostile requests to every call: each gets a documented status."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

SERVICE = pb.DESCRIPTOR.services_by_name["TrainerService"]
METHODS = [method for method in SERVICE.methods if method.name != "Shutdown"]
ROUNDS = 60
CALL_TIMEOUT_S = 20.0

# Statuses that a user can act on; UNKNOWN and INTERNAL would be bugs.
EXPECTED_STATUSES = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.OUT_OF_RANGE,
}

TEXTS = [
    "",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../b",
    "C:\\windows",
    "\x00",
    "a\x00b",
    "\n\r\t",
    "\u202e\u0000",
    "💥" * 50,
    "ü" * 5000,
    "x" * 100_000,
    "'; DROP TABLE run; --",
    "%_%",
    "$(touch /tmp/pwned)",
    "`id`",
    "{}",
    "echo_worker",
    "01J0000000000000000000000Z",
    "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
    "last",
]
NUMBERS = [0, 1, -1, 2**31 - 1, -(2**31), 50]
WIDE = [*NUMBERS, 2**63 - 1, -(2**63), 2**40]
REALS = [0.0, -1.0, 1e308, -1e308, float("nan"), float("inf"), float("-inf"), 1e-300]
DOCUMENTS: list[Any] = [
    None,
    [],
    {},
    {"worker": "echo_worker"},
    {"worker": "../echo_worker", "algo": "echo", "env_id": "E-v0"},
    {"worker": "echo_worker", "algo": "echo", "env_id": "../../x"},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "params": {"steps": "many"}},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "params": {"steps": -5}},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "seed": 2**64},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "bundle": {"name": "../../x"}},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "bundle": {"name": "missing"}},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "resources": {"gpus": 1024}},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "metadata": {"api_key": "k"}},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "artifacts": {"unknown": 1}},
    {"worker": "echo_worker", "algo": "echo", "env_id": "E-v0", "script": "\x00"},
    {"cmd": "unknown"},
    {"cmd": "action", "seq": "x"},
    {"cmd": "action", "value": "x" * 10_000},
    {"cmd": "stop", "seq": -1},
]
RAW = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"{",
    b"[" * 100_000,
    b'{"a":' * 5_000,
    b'{"worker": NaN}',
    b'{"worker":"echo_worker","worker":"x"}',
    b'"' + b"x" * 2_000_000 + b'"',
    '{"worker": "\ud800"}'.encode("utf-8", "surrogatepass"),
    b"\x1f\x8b\x08\x00garbage",
]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonUnderTest]:
    """One daemon for all tests of this module, which it must survive."""
    under_test = DaemonUnderTest(tmp_path_factory.mktemp("fuzzed"))
    try:
        assert under_test.start().startswith("ready ")
        yield under_test
    finally:
        under_test.clean_up()


@pytest.fixture(scope="module")
def run_ids(daemon: DaemonUnderTest) -> list[str]:
    """Existing runs, so that some requests refer to one."""
    finished = daemon.submit(steps=30)
    daemon.until(finished)
    endless = daemon.submit(steps=10_000_000, rate=20)
    daemon.until(endless, RunState.RUNNING)
    return [finished, endless]


@pytest.fixture(autouse=True)
def cancel_other_runs(daemon: DaemonUnderTest, run_ids: list[str]) -> Iterator[None]:
    """Cancel the runs that valid random configurations started."""
    yield
    for run in daemon.stub.ListRuns(pb.ListRunsRequest(page_size=1000)).runs:
        if run.run_id not in run_ids and not RunState(run.state).is_final:
            daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run.run_id, grace_s=0.1))
            daemon.until(run.run_id)


def _value(field: Any, rng: random.Random, run_ids: list[str]) -> Any:
    kind = field.type
    if kind == FieldDescriptor.TYPE_STRING:
        return rng.choice([*TEXTS, *run_ids, *run_ids])
    if kind == FieldDescriptor.TYPE_BYTES:
        return rng.choice([*RAW, json.dumps(rng.choice(DOCUMENTS)).encode()])
    if kind == FieldDescriptor.TYPE_BOOL:
        return rng.random() < 0.5
    if kind in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return rng.choice(REALS)
    if kind == FieldDescriptor.TYPE_MESSAGE:
        return _message(GetMessageClass(field.message_type), rng, run_ids)
    return rng.choice(NUMBERS if kind == FieldDescriptor.TYPE_INT32 else WIDE)


def _message(kind: type[Message], rng: random.Random, run_ids: list[str]) -> Message:
    values: dict[str, Any] = {}
    for field in kind.DESCRIPTOR.fields:
        if field.name == "follow":
            continue  # a following stream waits, which is not an error
        if rng.random() < 0.7:
            value = [_value(field, rng, run_ids) for _ in range(rng.choice([1, 1, 3]))]
            values[field.name] = value if field.is_repeated else value[0]
    return kind(**values)


def _call(
    daemon: DaemonUnderTest, method: MethodDescriptor, payloads: list[bytes]
) -> grpc.StatusCode:
    """Send raw payloads, read the complete response and return the status."""
    path = f"/{SERVICE.full_name}/{method.name}"
    shape = (
        ("stream" if method.client_streaming else "unary")
        + "_"
        + ("stream" if method.server_streaming else "unary")
    )
    call = getattr(daemon.channel, shape)(path)
    sent = iter(payloads) if method.client_streaming else payloads[0]
    try:
        responses = call(sent, timeout=CALL_TIMEOUT_S)
        if method.server_streaming:
            for count, _ in enumerate(responses):
                if count > 200:
                    responses.cancel()
                    return grpc.StatusCode.OK
    except grpc.RpcError as error:
        rpc_error = error
    else:
        return grpc.StatusCode.OK
    status: grpc.StatusCode = rpc_error.code()
    assert status not in EXPECTED_STATUSES or rpc_error.details(), f"{method.name}: no message"
    return status


def _is_harmless(method: MethodDescriptor, message: Message, live: str) -> bool:
    """Return whether the request does not affect the run that other calls need."""
    destroys = method.name in ("DeleteRun", "CancelRun", "PauseRun")
    waits = method.name == "StreamFrames"  # for the end of the run, as documented
    return not ((destroys or waits) and getattr(message, "run_id", "") == live)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_hostile_fields(
    daemon: DaemonUnderTest, run_ids: list[str], method: MethodDescriptor
) -> None:
    """Paths, sizes, numbers and Unicode text in every field of every call."""
    rng = random.Random(method.name)
    kind = GetMessageClass(method.input_type)
    for _ in range(ROUNDS):
        messages = [_message(kind, rng, run_ids) for _ in range(3)]
        if not all(_is_harmless(method, message, run_ids[1]) for message in messages):
            continue
        status = _call(daemon, method, [message.SerializeToString() for message in messages])
        assert status in EXPECTED_STATUSES, (method.name, status, str(messages[0])[:500])
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_invalid_messages(daemon: DaemonUnderTest, method: MethodDescriptor) -> None:
    """Bytes that are not a valid message, and messages above the size limit."""
    rng = random.Random(method.name)
    for payload in (
        b"\xff" * 50,
        b"\x0a\xff\xff\xff\xff\x0f",
        rng.randbytes(500),
        b"\x0a" + b"\x80" * 20,
        b"\x0a\x80\x80\x80\x04" + b"a" * (8 << 20),
    ):
        status = _call(daemon, method, [payload])
        # gRPC rejects bytes that cannot be parsed before they reach the service.
        assert status in EXPECTED_STATUSES | {grpc.StatusCode.INTERNAL}, (method.name, status)
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


def test_no_file_was_written_outside_of_the_home(daemon: DaemonUnderTest) -> None:
    """No request path had an effect outside of the home."""
    assert not Path("/tmp/pwned").exists()  # noqa: S108 - one of the texts would create it
    assert {path.name for path in daemon.folder.iterdir()} <= {"home", "daemon.out"}
    assert not list(daemon.home.path.rglob("passwd"))
    log = (daemon.home.logs / "daemon.log").read_text()
    assert "Traceback" not in log, log[-4000:]
