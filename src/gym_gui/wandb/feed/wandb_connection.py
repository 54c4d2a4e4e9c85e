"""Whether W&B's server can be reached from here, and where the way ends if not. Waits, not long."""

import http.client
import os
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

Result = TypeVar("Result")

DEFAULT_SERVER = "https://api.wandb.ai"
_PROXIES = ("WANDB_VPN_HTTPS_PROXY", "WANDB_VPN_HTTP_PROXY")
_PORTS = {"http": 80, "https": 443}
_STEP_S = 4.0
_PROXY_REFUSED = 407
_SERVER_FAILED = 500
_SECOND_HAND = (502, 503, 504)
"""What a proxy answers when it could not reach the server itself."""


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """How far it got, in words."""

    is_reached: bool
    summary: str
    detail: str = ""
    steps: tuple[str, ...] = ()
    """What worked, in order."""


class _EndedHere(Exception):  # noqa: N818 - no error of ours: how a way ended
    def __init__(self, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.summary = summary
        self.detail = detail


def server_address() -> str:
    """W&B's own, or the one of this environment."""
    return (os.environ.get("WANDB_BASE_URL") or DEFAULT_SERVER).rstrip("/")


def proxy_address(configured: str) -> str:
    """Of the run, or of this environment, which may hold a password where a run must not."""
    named = next(filter(None, (os.environ.get(name) for name in _PROXIES)), "")
    if not configured:
        return named
    is_same = bool(named) and without_password(named) == without_password(configured)
    return named if is_same else configured


def without_password(address: str) -> str:
    """As it may be shown; empty for what is no address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}" if place else ""


def probe(server: str, proxy: str, step_s: float = _STEP_S) -> ConnectionReport:
    """Looks the name up, connects, asks for a page: through `proxy`, where one is given."""
    steps: list[str] = []
    try:
        target, door = _parts(server, "server"), _parts(proxy, "proxy") if proxy else None
        status = _ask(target, door, step_s, steps)
    except _EndedHere as end:
        return ConnectionReport(False, end.summary, end.detail, tuple(steps))
    through = f" through the proxy {door.hostname}" if door else ""
    if status >= _SERVER_FAILED:
        whose = "The proxy or the server" if door and status in _SECOND_HAND else "The server"
        return ConnectionReport(
            False,
            f"{whose} answers with an error ({status})",
            "Wait a moment and test again; if it stays, ask whoever runs it.",
            tuple(steps),
        )
    return ConnectionReport(
        True, f"{target.hostname} answers{through}", "Runs can be tracked online.", tuple(steps)
    )


def _parts(address: str, what: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        is_good = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise _EndedHere(
            f"The address of the {what} cannot be used",
            f"“{without_password(address)}” should look like https://host:port.",
        )
    return parts


def _ask(target: SplitResult, door: SplitResult | None, step_s: float, steps: list[str]) -> int:
    first = door or target
    host, port = first.hostname or "", first.port or _PORTS[first.scheme]
    what = f"the proxy {host}" if door else host
    _resolve(host, port, what, step_s)
    steps.append(f"{_begun(what)} has an address")
    connection = _connected(host, port, what, is_proxy=door is not None, step_s=step_s)
    steps.append(f"{_begun(what)} accepts connections on port {port}")
    try:
        return _status(connection, target, door, steps)
    finally:
        connection.close()


def _resolve(host: str, port: int, what: str, step_s: float) -> None:
    # On a thread of its own, because looking up a name has no time limit.
    try:
        found = _within(step_s, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except OSError as error:
        raise _EndedHere(
            f"The name of {what} is not known",
            f"{error.strerror or error}. Check the address, and whether this computer is online.",
        ) from error
    if found is None:
        raise _EndedHere(
            f"Nobody says where {what} is",
            f"Looking its name up took longer than {step_s:.0f} s. Is this computer online?",
        )


def _connected(
    host: str, port: int, what: str, *, is_proxy: bool, step_s: float
) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(host, port, timeout=step_s)
    hint = (
        "Check the proxy's address and port."
        if is_proxy
        else "Is a proxy needed here? Set one in the training form or WANDB_VPN_HTTPS_PROXY."
    )
    try:
        connection.connect()
    except ConnectionRefusedError as error:
        raise _EndedHere(f"{_begun(what)} refuses connections on port {port}", hint) from error
    except TimeoutError as error:
        raise _EndedHere(f"{_begun(what)} does not answer", hint) from error
    except OSError as error:
        raise _EndedHere(
            f"{_begun(what)} cannot be reached", f"{error.strerror or error}. {hint}"
        ) from error
    return connection


def _status(
    connection: http.client.HTTPConnection,
    target: SplitResult,
    door: SplitResult | None,
    steps: list[str],
) -> int:
    host, port = target.hostname or "", target.port or _PORTS[target.scheme]
    try:
        if target.scheme == "https":
            if door is not None:
                _open_tunnel(connection, f"{host}:{port}", door)
                steps.append(f"The proxy leads to {host}")
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
            steps.append(f"{host} has a certificate that is trusted")
        path = (target.path or "/") if door is None or target.scheme == "https" else target.geturl()
        headers = {"Host": target.netloc.rpartition("@")[2], "User-Agent": "mosaic"}
        if door is not None and target.scheme == "http":
            headers |= _credentials(door)
        connection.request("GET", path, headers=headers)
        status = connection.getresponse().status
    except ssl.SSLError as error:
        raise _EndedHere(
            f"{host} cannot be trusted",
            f"Its certificate is not accepted ({error.reason or error}). A proxy that reads along"
            " needs its certificate installed on this computer.",
        ) from error
    except (OSError, http.client.HTTPException) as error:
        whose = "proxy" if door else "server"
        raise _EndedHere(
            f"The {whose} broke the connection off", f"{type(error).__name__}: {error}."
        ) from error
    if door is not None and status == _PROXY_REFUSED:
        raise _refused_by_proxy(status)
    steps.append(f"{host} answered ({status})")
    return status


def _open_tunnel(connection: http.client.HTTPConnection, target: str, door: SplitResult) -> None:
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    lines += [f"{name}: {value}" for name, value in _credentials(door).items()]
    connection.sock.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = http.client.HTTPResponse(connection.sock, method="CONNECT")
    try:
        answer.begin()
    finally:
        answer.close()
    if answer.status >= 300:
        raise _refused_by_proxy(answer.status)


def _refused_by_proxy(status: int) -> _EndedHere:
    if status == _PROXY_REFUSED:
        return _EndedHere(
            "The proxy wants a name and a password",
            "Put them into WANDB_VPN_HTTPS_PROXY, as http://name:password@host:port.",
        )
    return _EndedHere(
        f"The proxy refuses to lead there ({status})", "Ask whoever runs it to allow this server."
    )


def _begun(words: str) -> str:
    """At the beginning of a sentence; the name of a host stays as it is."""
    return f"T{words[1:]}" if words.startswith("the ") else words


def _credentials(door: SplitResult) -> dict[str, str]:
    if door.username is None:
        return {}
    pair = f"{unquote(door.username)}:{unquote(door.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _within(limit_s: float, work: Callable[[], Result]) -> Result | None:
    """What came of it, or None when it took too long. Raises what it raises."""
    outcome: list[Result] = []
    problem: list[OSError] = []

    def carry_out() -> None:
        try:
            outcome.append(work())
        except OSError as error:
            problem.append(error)

    thread = threading.Thread(target=carry_out, name="name lookup", daemon=True)
    thread.start()
    thread.join(limit_s)
    if problem:
        raise problem[0]
    return outcome[0] if outcome else None
