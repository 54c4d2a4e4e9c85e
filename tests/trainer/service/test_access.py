"""Who gets in: the token on every call, TLS, sizes, and what is not offered at all."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from mosaic.contract.endpoint import Endpoint
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceStub
from mosaic.trainer.service.server import MAX_REQUEST_BYTES, SERVICE_NAME
from tests.support.daemon import DaemonUnderTest, eventually
from tests.trainer.service.conftest import METHODS, SERVICE, empty_request, error_details

pytestmark = pytest.mark.process

_UNKNOWN = "/mosaic.trainer.v1.TrainerService/NoSuchCall"
_REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
_HEALTH = "/grpc.health.v1.Health/Check"


def _failure(
    channel: grpc.Channel, path: str, data: bytes, metadata: Any, *, streams: bool = False
) -> grpc.RpcError:
    """How a method refuses these bytes, whether or not they are a message."""
    method: Any = channel.stream_stream(path) if streams else channel.unary_unary(path)
    try:
        answer = method(iter([data]) if streams else data, metadata=metadata, timeout=60)
        list(answer if streams else [])
    except grpc.RpcError as error:
        return error
    pytest.fail(f"{path} was not refused")


_WITHOUT_THE_TOKEN: dict[str, tuple[tuple[str, Any], ...]] = {
    "missing": (),
    "wrong": (("authorization", "Bearer wrong"),),
    "empty": (("authorization", ""),),
    "binary": (("authorization-bin", b"\xff\xfe"),),
}


def test_without_the_token_nothing_answers(daemon: DaemonUnderTest) -> None:
    """Not one call of ours, nor the health service, nor a call that does not exist."""
    paths = [f"/{SERVICE.full_name}/{name}" for name in METHODS]
    with grpc.insecure_channel(daemon.address) as channel:
        for path in [*paths, _UNKNOWN, _HEALTH, _REFLECTION]:
            for how, metadata in _WITHOUT_THE_TOKEN.items():
                error = _failure(channel, path, b"", metadata, streams=how == "wrong")
                assert error.code() is grpc.StatusCode.UNAUTHENTICATED, (path, how)
                assert "trainer/token" in error_details(error)["mosaic-remedy"]


def test_parts_of_the_token_do_not_open(daemon: DaemonUnderTest) -> None:
    """Neither a beginning of it, nor more than it, nor it twice, nor another scheme."""
    token = daemon.token
    wrong = [f"Bearer {token[:-1]}", f"Bearer {token}x", f"bearer {token}", token, f"Basic {token}"]
    attempts: list[tuple[tuple[str, str], ...]] = [(("authorization", value),) for value in wrong]
    attempts.append((*daemon.metadata, *daemon.metadata))
    with grpc.insecure_channel(daemon.address) as channel:
        stub = TrainerServiceStub(channel)
        for metadata in attempts:
            with pytest.raises(grpc.RpcError) as caught:
                stub.GetHealth(pb.GetHealthRequest(), metadata=metadata)
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_no_reflection_and_no_unknown_calls(daemon: DaemonUnderTest) -> None:
    """With the token too: what is not in the proto does not exist."""
    with grpc.insecure_channel(daemon.address) as channel:
        for path in (_UNKNOWN, _REFLECTION):
            error = _failure(channel, path, b"", daemon.metadata)
            assert error.code() is grpc.StatusCode.UNIMPLEMENTED


def test_bytes_that_cannot_be_decoded(daemon: DaemonUnderTest) -> None:
    """Rejected as a wrong argument by every call, and the daemon continues."""
    garbage = b"\x0a\xff\xff\xff\xff"  # says that four gigabytes follow
    with grpc.insecure_channel(daemon.address) as channel:
        for name, method in METHODS.items():
            if method.input_type.fields:  # without any, all fields are merely unknown ones
                path = f"/{SERVICE.full_name}/{name}"
                streams = method.client_streaming or method.server_streaming
                error = _failure(channel, path, garbage, daemon.metadata, streams=streams)
                assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, name
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


def test_a_request_that_is_too_large(daemon: DaemonUnderTest) -> None:
    """Rejected by its size before it is read."""
    request = pb.SubmitRunRequest(config_json=b" " * (MAX_REQUEST_BYTES + 1))
    with pytest.raises(grpc.RpcError) as caught:
        daemon.stub.SubmitRun(request)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


def test_every_call_is_implemented(daemon: DaemonUnderTest) -> None:
    """None of the proto's calls answers that it does not exist, or fails by a bug."""
    statuses = {}
    for name, method in METHODS.items():
        if name == "Shutdown":
            continue
        request: Any = empty_request(name)
        if hasattr(request, "follow"):
            request.follow = False
        sent = iter([request]) if method.client_streaming else request
        try:
            answer = getattr(daemon.stub, name)(sent, timeout=60)
            if method.server_streaming:
                list(answer)
        except grpc.RpcError as error:
            statuses[name] = error.code()
    bad = {grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}
    assert not {name: code for name, code in statuses.items() if code in bad}


def test_the_standard_health_service(daemon: DaemonUnderTest) -> None:
    """Programs that know nothing of us see that it serves, by either name."""
    stub = health_pb2_grpc.HealthStub(daemon.channel)
    for service in ("", SERVICE_NAME):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError) as caught:
        stub.Check(health_pb2.HealthCheckRequest(service="no.such.Service"))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_a_watched_health_service_reports_the_end(daemon: DaemonUnderTest) -> None:
    """Watchers see that it stops serving, or that it has stopped."""
    stub = health_pb2_grpc.HealthStub(daemon.channel)
    watch = stub.Watch(health_pb2.HealthCheckRequest(service=""))
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    daemon.stub.Shutdown(pb.ShutdownRequest())
    try:
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 - one of two good ends
    assert daemon.wait() == 0


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of our own for this machine, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return certificate, key


def test_tls(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    """With a certificate it may listen everywhere, and answers over TLS alone, token and all."""
    public, key = certificate
    daemon = DaemonUnderTest(tmp_path)
    options = ("--host", "0.0.0.0", "--tls-certificate", str(public), "--tls-key", str(key))  # noqa: S104
    try:
        assert daemon.start(*options).startswith("ready localhost:")
        endpoint = Endpoint.read(daemon.home.endpoint)
        assert endpoint is not None
        assert endpoint.certificate == str(public)
        credentials = grpc.ssl_channel_credentials(public.read_bytes())
        with grpc.secure_channel(daemon.address, credentials) as channel:
            stub = TrainerServiceStub(channel)
            health = stub.GetHealth(pb.GetHealthRequest(), metadata=daemon.metadata)
            assert health.pid == daemon.pid
            with pytest.raises(grpc.RpcError) as caught:
                stub.GetHealth(pb.GetHealthRequest())
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        with grpc.insecure_channel(daemon.address) as channel:
            with pytest.raises(grpc.RpcError) as caught:
                TrainerServiceStub(channel).GetHealth(
                    pb.GetHealthRequest(), metadata=daemon.metadata, timeout=60
                )
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    finally:
        daemon.clean_up()


def test_tls_files_that_cannot_be_used(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    """Missing, swapped or alone: reported at the start, not by connections that fail."""
    public, key = certificate
    missing = tmp_path / "missing.pem"
    for pair in ((public, missing), (missing, key), (key, public)):
        options = ("--tls-certificate", str(pair[0]), "--tls-key", str(pair[1]))
        failure = DaemonUnderTest(tmp_path).start_error(*options)
        assert failure["code"] == "T392"
        assert "PEM" in failure["remedy"]
    assert DaemonUnderTest(tmp_path).start_error("--tls-key", str(key))["code"] == "T391"


def test_streams_end_when_the_daemon_stops(daemon: DaemonUnderTest) -> None:
    """Clients hear at once that it goes, so that they can look for the next one."""
    watch = daemon.stub.WatchRuns(pb.WatchRunsRequest(follow=True))
    run_id = daemon.submit(steps=1_000_000, rate=100)
    assert next(watch).run_id == run_id
    daemon.stub.Shutdown(pb.ShutdownRequest())
    with pytest.raises(grpc.RpcError) as caught:
        eventually(lambda: next(watch) is None)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert error_details(caught.value)["mosaic-code"] == "T375"
