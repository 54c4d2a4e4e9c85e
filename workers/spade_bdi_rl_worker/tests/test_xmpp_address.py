"""The parameter `xmpp`, and whether a server answers: needs no package of the bundle."""

import socket
import threading
from collections.abc import Iterator

import pytest

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.messaging.address import Address, account_name, parse_address
from spade_bdi_rl_worker.messaging.readiness import require_server


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def answer_once(listener: socket.socket, answer: bytes) -> Address:
    """Whoever connects is answered so, and left."""

    def serve() -> None:
        link, _ = listener.accept()
        with link:
            link.recv(1000)
            link.sendall(answer)

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
def test_what_can_be_given(given: str, expected: Address) -> None:
    """Nothing, a word, or where a server is."""
    assert parse_address(given) == expected


@pytest.mark.parametrize(
    "given", ["yes", "host", "host:", "host:0", "host:99999", "a b:5222", ":1"]
)
def test_what_is_no_address(given: str) -> None:
    """Anything else is refused, with what to write instead."""
    with pytest.raises(WorkerError) as raised:
        parse_address(given)
    assert "host:port" in raised.value.remedy


def test_a_server_that_answers(listener: socket.socket) -> None:
    """An XMPP server opens a stream in return."""
    answer = b"<?xml version='1.0'?><stream:stream from='x'><stream:features></stream:features>"

    require_server(answer_once(listener, answer))


def test_nobody_listens(listener: socket.socket) -> None:
    """A server that is not running is told at once."""
    host, port = listener.getsockname()
    listener.close()

    with pytest.raises(WorkerError, match="cannot be reached"):
        require_server(Address("external", host, port, host))


def test_something_else_listens(listener: socket.socket) -> None:
    """A web server is no XMPP server."""
    with pytest.raises(WorkerError, match="is no XMPP server"):
        require_server(answer_once(listener, b"HTTP/1.1 400 Bad Request\r\n\r\n"))


def test_a_server_that_never_comes_to_an_end(listener: socket.socket) -> None:
    """Whoever answers letter by letter is waited for no longer than whoever says nothing."""
    host, port = listener.getsockname()
    is_over = threading.Event()

    def serve() -> None:
        link, _ = listener.accept()
        with link:
            while not is_over.wait(0.01):
                link.sendall(b" ")

    answering = threading.Thread(target=serve)
    answering.start()
    try:
        with pytest.raises(WorkerError, match="does not answer a greeting"):
            require_server(Address("external", host, port, host), limit_s=0.2)
    finally:
        is_over.set()
        answering.join()


def test_another_domain(listener: socket.socket) -> None:
    """A server that does not serve the domain is told, with how to name the one that it serves."""
    answer = b"<stream:stream><stream:error><host-unknown/></stream:error></stream:stream>"

    with pytest.raises(WorkerError, match="does not serve the domain") as raised:
        require_server(answer_once(listener, answer))
    assert "domain@host:port" in raised.value.remedy


def test_without_a_server_nothing_is_asked() -> None:
    """Inside the process, and with a server of one's own, there is nobody to ask."""
    require_server(Address("container"))
    require_server(Address("embedded"))


def test_names_of_accounts() -> None:
    """Whatever people call an agent or a run, a server takes its name."""
    assert account_name("mosaic-01ABC", "Learner №1 @home/x") == "mosaic-01abc-learner-1-home-x"
    assert account_name("…") == "agent"
