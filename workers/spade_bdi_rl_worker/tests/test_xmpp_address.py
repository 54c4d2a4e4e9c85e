"""The parameter `xmpp`, and the check of the server. Needs no package of the bundle."""

import socket
import threading
from collections.abc import Iterator

import pytest

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.messaging.address import Address, account_name, parse_address
from spade_bdi_rl_worker.messaging.server_check import require_server


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def answer_once(listener: socket.socket, answer: bytes) -> Address:
    """Answer the first connection, then close it."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    host, port = listener.getsockname()
    return Address("external", host, port, host)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", Address("container")),
        ("off", Address("container")),
        ("embedded", Address("embedded")),
        ("Embedded ", Address("embedded")),
        ("chat.example:5222", Address("external", "chat.example", 5222, "chat.example")),
        ("lab@10.0.0.7:5222", Address("external", "10.0.0.7", 5222, "lab")),
        ("lab@[::1]:5222", Address("external", "::1", 5222, "lab")),
        ("127.0.0.1:5222", Address("external", "127.0.0.1", 5222, "localhost")),
        ("[::1]:5222", Address("external", "::1", 5222, "localhost")),
    ],
)
def test_valid_addresses(given: str, expected: Address) -> None:
    """Empty, a keyword, or the address of a server."""
    assert parse_address(given) == expected


@pytest.mark.parametrize(
    "given", ["yes", "host", "host:", "host:0", "host:99999", "a b:5222", ":1"]
)
def test_invalid_addresses(given: str) -> None:
    """The remedy shows the format."""
    with pytest.raises(WorkerError) as raised:
        parse_address(given)
    assert "host:port" in raised.value.remedy


def test_a_server_that_answers(listener: socket.socket) -> None:
    """An XMPP server answers with a stream."""
    answer = b"<?xml version='1.0'?><stream:stream from='x'><stream:features></stream:features>"

    require_server(answer_once(listener, answer))


def test_no_server(listener: socket.socket) -> None:
    """A server that does not run is reported immediately."""
    host, port = listener.getsockname()
    listener.close()

    with pytest.raises(WorkerError, match="cannot be reached"):
        require_server(Address("external", host, port, host))


def test_another_service(listener: socket.socket) -> None:
    """A web server is not an XMPP server."""
    with pytest.raises(WorkerError, match="is not an XMPP server"):
        require_server(answer_once(listener, b"HTTP/1.1 400 Bad Request\r\n\r\n"))


def test_an_endless_answer_times_out(listener: socket.socket) -> None:
    """A server that answers byte by byte is subject to the same timeout as a silent one."""
    host, port = listener.getsockname()
    stop = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            while not stop.wait(0.01):
                connection.sendall(b" ")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with pytest.raises(WorkerError, match="does not open an XMPP stream"):
            require_server(Address("external", host, port, host), timeout_s=0.2)
    finally:
        stop.set()
        thread.join()


def test_an_unserved_domain(listener: socket.socket) -> None:
    """The remedy shows how to add the domain that the server serves."""
    answer = b"<stream:stream><stream:error><host-unknown/></stream:error></stream:stream>"

    with pytest.raises(WorkerError, match="does not serve the domain") as raised:
        require_server(answer_once(listener, answer))
    assert "domain@host:port" in raised.value.remedy


def test_no_check_without_an_external_server() -> None:
    """In-process messages and the embedded server need no check."""
    require_server(Address("container"))
    require_server(Address("embedded"))


def test_account_names() -> None:
    """Arbitrary names become valid account names."""
    assert account_name("mosaic-01ABC", "Learner №1 @home/x") == "mosaic-01abc-learner-1-home-x"
    assert account_name("…") == "agent"
