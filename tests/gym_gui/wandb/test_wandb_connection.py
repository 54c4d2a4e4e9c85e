"""Connection test to the W&B server: every step that can fail, with local servers."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gym_gui.wandb.feed import wandb_connection
from gym_gui.wandb.feed.wandb_connection import probe, proxy_address, without_password


class _Handler(BaseHTTPRequestHandler):
    status = 404

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers.get("Proxy-Authorization")))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_CONNECT = do_GET  # noqa: N815 - its name

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """Answers everything with one status, whether as a server or as a proxy."""

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = status
        self.requests: list[tuple[str, str | None]] = []
        self.address = f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def serve() -> Iterator[type]:
    """Servers that stop with the test."""
    running: list[tuple[_Server, threading.Thread]] = []

    class Serving(_Server):
        def __init__(self, status: int = 404) -> None:
            super().__init__(status)
            thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
            thread.start()
            running.append((self, thread))

    yield Serving
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_server_that_answers(serve: type) -> None:
    """Any response counts; the report lists successful steps."""
    report = probe(serve(404).address, "")
    assert report.is_reached
    assert report.summary == "127.0.0.1 answers"
    assert "accepts connections" in report.steps[1]


def test_through_a_proxy(serve: type) -> None:
    """The proxy gets the complete URL, and the credentials of its own address."""
    proxy = serve(200)
    with_password = proxy.address.replace("http://", "http://ada:se%20cret@")
    report = probe("http://tracker.invalid/", with_password)
    assert report.is_reached
    assert "through the proxy 127.0.0.1" in report.summary
    assert proxy.requests == [("http://tracker.invalid/", "Basic YWRhOnNlIGNyZXQ=")]
    assert "cret" not in str(report)


@pytest.mark.parametrize(
    ("server", "status", "text"),
    [
        ("http://tracker.invalid", 407, "requires a user name and a password"),
        ("https://tracker.invalid", 407, "requires a user name and a password"),
        ("https://tracker.invalid", 403, "rejected the connection (403)"),
        ("http://tracker.invalid", 502, "The proxy or the server answers with an error (502)"),
    ],
)
def test_a_proxy_that_rejects(serve: type, server: str, status: int, text: str) -> None:
    """The report names the proxy and has a remedy."""
    report = probe(server, serve(status).address)
    assert not report.is_reached
    assert text in report.summary
    assert report.detail


def test_unreachable_servers(closed_port: int, serve: type) -> None:
    """Server refuses, proxy refuses, server error, unknown name."""
    refused = probe(f"http://127.0.0.1:{closed_port}", "")
    assert refused.summary == f"127.0.0.1 refuses connections on port {closed_port}"
    assert "proxy" in refused.detail
    no_proxy = probe("https://tracker.invalid", f"http://127.0.0.1:{closed_port}")
    assert no_proxy.summary.startswith("The proxy 127.0.0.1 refuses connections")
    assert "The server answers with an error (503)" in probe(serve(503).address, "").summary
    assert "Cannot resolve the name" in probe("https://tracker.invalid", "").summary


def test_a_silent_server() -> None:
    """The test ends after the timeout."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        report = probe(f"http://127.0.0.1:{silent.getsockname()[1]}", "", timeout_s=0.2)
    assert report.summary == "The server closed the connection"


def test_no_certificate(serve: type) -> None:
    """A server without TLS is not trusted."""
    report = probe(serve(200).address.replace("http:", "https:"), "")
    assert report.summary == "The certificate of 127.0.0.1 is not trusted"


@pytest.mark.parametrize("address", ["", "tracker", "ftp://host", "https://host:notaport"])
def test_invalid_addresses(address: str) -> None:
    """They are reported without a connection attempt."""
    assert probe(address, "").summary == "The address of the server cannot be used"


def test_proxy_selection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy of the run; its password comes from the environment."""
    for name in wandb_connection._PROXIES:
        monkeypatch.delenv(name, raising=False)
    assert proxy_address("") == ""
    assert proxy_address("http://one:1") == "http://one:1"
    monkeypatch.setenv("WANDB_VPN_HTTP_PROXY", "http://ada:secret@vpn:8080")
    assert proxy_address("") == "http://ada:secret@vpn:8080"
    assert proxy_address("http://vpn:8080") == "http://ada:secret@vpn:8080"
    assert proxy_address("http://one:1") == "http://one:1"
    assert without_password("http://ada:secret@vpn:8080") == "http://vpn:8080"
