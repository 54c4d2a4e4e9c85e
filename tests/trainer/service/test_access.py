"""Access to the service: token, TLS, request sizes and unknown calls."""

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
    """Send bytes to a method that must reject them and return the error."""
    method: Any = channel.stream_stream(path) if streams else channel.unary_unary(path)
    try:
        response = method(iter([data]) if streams else data, metadata=metadata, timeout=60)
        list(response if streams else [])
    except grpc.RpcError as error:
        return error
    pytest.fail(f"{path} was not rejected")


_INVALID_METADATA: dict[str, tuple[tuple[str, Any], ...]] = {
    "missing": (),
    "wrong": (("authorization", "Bearer wrong"),),
    "empty": (("authorization", ""),),
    "binary": (("authorization-bin", b"\xff\xfe"),),
}


def test_every_call_requires_the_token(daemon: DaemonUnderTest) -> None:
    """Calls of the service, of the health service, and unknown calls."""
    paths = [f"/{SERVICE.full_name}/{name}" for name in METHODS]
    with grpc.insecure_channel(daemon.address) as channel:
        for path in [*paths, _UNKNOWN, _HEALTH, _REFLECTION]:
            for case, metadata in _INVALID_METADATA.items():
                error = _failure(channel, path, b"", metadata, streams=case == "wrong")
                assert error.code() is grpc.StatusCode.UNAUTHENTICATED, (path, case)
                assert "trainer/token" in error_details(error)["mosaic-remedy"]


def test_a_modified_token_is_rejected(daemon: DaemonUnderTest) -> None:
    """A prefix, a suffix, a repeated token, and another scheme."""
    token = daemon.token
    invalid = [
        f"Bearer {token[:-1]}",
        f"Bearer {token}x",
        f"bearer {token}",
        token,
        f"Basic {token}",
    ]
    attempts: list[tuple[tuple[str, str], ...]] = [(("authorization", value),) for value in invalid]
    attempts.append((*daemon.metadata, *daemon.metadata))
    with grpc.insecure_channel(daemon.address) as channel:
        stub = TrainerServiceStub(channel)
        for metadata in attempts:
            with pytest.raises(grpc.RpcError) as caught:
                stub.GetHealth(pb.GetHealthRequest(), metadata=metadata)
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_no_reflection_and_no_unknown_calls(daemon: DaemonUnderTest) -> None:
    """Calls that are not in the proto are UNIMPLEMENTED, also with the token."""
    with grpc.insecure_channel(daemon.address) as channel:
        for path in (_UNKNOWN, _REFLECTION):
            error = _failure(channel, path, b"", daemon.metadata)
            assert error.code() is grpc.StatusCode.UNIMPLEMENTED


def test_bytes_that_cannot_be_decoded(daemon: DaemonUnderTest) -> None:
    """Every call rejects them with INVALID_ARGUMENT, and the daemon keeps running."""
    garbage = b"\x0a\xff\xff\xff\xff"  # the length prefix says four gigabytes
    with grpc.insecure_channel(daemon.address) as channel:
        for name, method in METHODS.items():
            if method.input_type.fields:  # otherwise all fields are unknown and ignored
                path = f"/{SERVICE.full_name}/{name}"
                streams = method.client_streaming or method.server_streaming
                error = _failure(channel, path, garbage, daemon.metadata, streams=streams)
                assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, name
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


def test_a_request_that_is_too_large(daemon: DaemonUnderTest) -> None:
    """It is rejected by its size before it is read."""
    request = pb.SubmitRunRequest(config_json=b" " * (MAX_REQUEST_BYTES + 1))
    with pytest.raises(grpc.RpcError) as caught:
        daemon.stub.SubmitRun(request)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert daemon.stub.GetHealth(pb.GetHealthRequest()).pid == daemon.pid


def test_every_call_is_implemented(daemon: DaemonUnderTest) -> None:
    """No call of the proto is UNIMPLEMENTED, INTERNAL or UNKNOWN."""
    statuses = {}
    for name, method in METHODS.items():
        if name == "Shutdown":
            continue
        request: Any = empty_request(name)
        if hasattr(request, "follow"):
            request.follow = False
        sent = iter([request]) if method.client_streaming else request
        try:
            response = getattr(daemon.stub, name)(sent, timeout=60)
            if method.server_streaming:
                list(response)
        except grpc.RpcError as error:
            statuses[name] = error.code()
    bugs = {grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}
    assert not {name: code for name, code in statuses.items() if code in bugs}


def test_the_standard_health_service(daemon: DaemonUnderTest) -> None:
    """It reports SERVING for the server and for the trainer service."""
    stub = health_pb2_grpc.HealthStub(daemon.channel)
    for service in ("", SERVICE_NAME):
        response = stub.Check(health_pb2.HealthCheckRequest(service=service))
        assert response.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError) as caught:
        stub.Check(health_pb2.HealthCheckRequest(service="no.such.Service"))
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_a_health_watch_reports_the_shutdown(daemon: DaemonUnderTest) -> None:
    """A watcher gets NOT_SERVING, or the connection is closed."""
    stub = health_pb2_grpc.HealthStub(daemon.channel)
    watch = stub.Watch(health_pb2.HealthCheckRequest(service=""))
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    daemon.stub.Shutdown(pb.ShutdownRequest())
    try:
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 - one of two valid outcomes
    assert daemon.wait() == 0


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A self-signed certificate for localhost and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return certificate, key


def test_tls(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    """With a certificate it may listen on all addresses, over TLS only, with the token."""
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


def test_invalid_tls_files(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    """Missing, swapped or incomplete files are reported at startup."""
    public, key = certificate
    missing = tmp_path / "missing.pem"
    for pair in ((public, missing), (missing, key), (key, public)):
        options = ("--tls-certificate", str(pair[0]), "--tls-key", str(pair[1]))
        failure = DaemonUnderTest(tmp_path).start_error(*options)
        assert failure["code"] == "T392"
        assert "PEM" in failure["remedy"]
    assert DaemonUnderTest(tmp_path).start_error("--tls-key", str(key))["code"] == "T391"


def test_streams_end_when_the_daemon_stops(daemon: DaemonUnderTest) -> None:
    """Clients are notified immediately, so that they can reconnect."""
    watch = daemon.stub.WatchRuns(pb.WatchRunsRequest(follow=True))
    run_id = daemon.submit(steps=1_000_000, rate=100)
    assert next(watch).run_id == run_id
    daemon.stub.Shutdown(pb.ShutdownRequest())
    with pytest.raises(grpc.RpcError) as caught:
        eventually(lambda: next(watch) is None)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert error_details(caught.value)["mosaic-code"] == "T375"
