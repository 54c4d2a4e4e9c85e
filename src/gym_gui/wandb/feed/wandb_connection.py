"""Tests the connection to the W&B server, step by step. Blocks for a few seconds at most."""

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
_STEP_TIMEOUT_S = 4.0
_PROXY_AUTH_REQUIRED = 407
_SERVER_FAILED = 500
_GATEWAY_ERRORS = (502, 503, 504)
"""Status codes of a proxy that cannot reach the server."""


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """Result of a connection test, for display."""

    is_reached: bool
    summary: str
    detail: str = ""
    steps: tuple[str, ...] = ()
    """Successful steps, in order."""


class _ProbeFailedError(Exception):
    def __init__(self, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.summary = summary
        self.detail = detail


def server_address() -> str:
    """The public W&B server, or the one in `WANDB_BASE_URL`."""
    return (os.environ.get("WANDB_BASE_URL") or DEFAULT_SERVER).rstrip("/")


def proxy_address(configured: str) -> str:
    """The proxy of the run or of the environment. Only the latter may contain a password."""
    named = next(filter(None, (os.environ.get(name) for name in _PROXIES)), "")
    if not configured:
        return named
    is_same = bool(named) and without_password(named) == without_password(configured)
    return named if is_same else configured


def without_password(address: str) -> str:
    """The address without credentials, for display; empty if it is not an address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if host else ""


def probe(server: str, proxy: str, timeout_s: float = _STEP_TIMEOUT_S) -> ConnectionReport:
    """Resolve the name, connect and request a page, through `proxy` if one is given."""
    steps: list[str] = []
    try:
        target, proxy_url = _parts(server, "server"), _parts(proxy, "proxy") if proxy else None
        status = _request(target, proxy_url, timeout_s, steps)
    except _ProbeFailedError as error:
        return ConnectionReport(False, error.summary, error.detail, tuple(steps))
    through = f" through the proxy {proxy_url.hostname}" if proxy_url else ""
    if status >= _SERVER_FAILED:
        subject = (
            "The proxy or the server" if proxy_url and status in _GATEWAY_ERRORS else "The server"
        )
        return ConnectionReport(
            False,
            f"{subject} answers with an error ({status})",
            "Wait and test again. If the error remains, contact its administrator.",
            tuple(steps),
        )
    return ConnectionReport(
        True, f"{target.hostname} answers{through}", "Runs can be tracked online.", tuple(steps)
    )


def _parts(address: str, name: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise _ProbeFailedError(
            f"The address of the {name} cannot be used",
            f"“{without_password(address)}” should look like https://host:port.",
        )
    return parts


def _request(
    target: SplitResult, proxy_url: SplitResult | None, timeout_s: float, steps: list[str]
) -> int:
    first = proxy_url or target
    host, port = first.hostname or "", first.port or _PORTS[first.scheme]
    name = f"the proxy {host}" if proxy_url else host
    _resolve(host, port, name, timeout_s)
    steps.append(f"{_capitalized(name)} resolved")
    connection = _connect(host, port, name, is_proxy=proxy_url is not None, timeout_s=timeout_s)
    steps.append(f"{_capitalized(name)} accepts connections on port {port}")
    try:
        return _status(connection, target, proxy_url, steps)
    finally:
        connection.close()


def _resolve(host: str, port: int, name: str, timeout_s: float) -> None:
    # On a separate thread, because name resolution has no timeout.
    try:
        addresses = _run_with_timeout(
            timeout_s, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
    except OSError as error:
        raise _ProbeFailedError(
            f"Cannot resolve the name of {name}",
            f"{error.strerror or error}. Check the address and the network connection.",
        ) from error
    if addresses is None:
        raise _ProbeFailedError(
            f"Resolving the name of {name} timed out",
            f"No answer within {timeout_s:.0f} s. Check the network connection.",
        )


def _connect(
    host: str, port: int, name: str, *, is_proxy: bool, timeout_s: float
) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    hint = (
        "Check the proxy's address and port."
        if is_proxy
        else "If a proxy is needed, set it in the training form or WANDB_VPN_HTTPS_PROXY."
    )
    try:
        connection.connect()
    except ConnectionRefusedError as error:
        raise _ProbeFailedError(
            f"{_capitalized(name)} refuses connections on port {port}", hint
        ) from error
    except TimeoutError as error:
        raise _ProbeFailedError(f"{_capitalized(name)} does not answer", hint) from error
    except OSError as error:
        raise _ProbeFailedError(
            f"{_capitalized(name)} cannot be reached", f"{error.strerror or error}. {hint}"
        ) from error
    return connection


def _status(
    connection: http.client.HTTPConnection,
    target: SplitResult,
    proxy_url: SplitResult | None,
    steps: list[str],
) -> int:
    host, port = target.hostname or "", target.port or _PORTS[target.scheme]
    try:
        if target.scheme == "https":
            if proxy_url is not None:
                _open_tunnel(connection, f"{host}:{port}", proxy_url)
                steps.append(f"The proxy connects to {host}")
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
            steps.append(f"{host} has a trusted certificate")
        path = (
            (target.path or "/")
            if proxy_url is None or target.scheme == "https"
            else target.geturl()
        )
        headers = {"Host": target.netloc.rpartition("@")[2], "User-Agent": "mosaic"}
        if proxy_url is not None and target.scheme == "http":
            headers |= _credentials(proxy_url)
        connection.request("GET", path, headers=headers)
        status = connection.getresponse().status
    except ssl.SSLError as error:
        raise _ProbeFailedError(
            f"The certificate of {host} is not trusted",
            f"{error.reason or error}. If a proxy inspects TLS traffic, install its certificate"
            " on this computer.",
        ) from error
    except (OSError, http.client.HTTPException) as error:
        subject = "proxy" if proxy_url else "server"
        raise _ProbeFailedError(
            f"The {subject} closed the connection", f"{type(error).__name__}: {error}."
        ) from error
    if proxy_url is not None and status == _PROXY_AUTH_REQUIRED:
        raise _proxy_error(status)
    steps.append(f"{host} answered ({status})")
    return status


def _open_tunnel(
    connection: http.client.HTTPConnection, target: str, proxy_url: SplitResult
) -> None:
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    lines += [f"{name}: {value}" for name, value in _credentials(proxy_url).items()]
    connection.sock.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = http.client.HTTPResponse(connection.sock, method="CONNECT")
    try:
        answer.begin()
    finally:
        answer.close()
    if answer.status >= 300:
        raise _proxy_error(answer.status)


def _proxy_error(status: int) -> _ProbeFailedError:
    if status == _PROXY_AUTH_REQUIRED:
        return _ProbeFailedError(
            "The proxy requires a user name and a password",
            "Set them in WANDB_VPN_HTTPS_PROXY, as http://name:password@host:port.",
        )
    return _ProbeFailedError(
        f"The proxy rejected the connection ({status})",
        "Ask its administrator to allow this server.",
    )


def _capitalized(text: str) -> str:
    """Capitalize "the" at the start of a sentence; host names stay unchanged."""
    return f"T{text[1:]}" if text.startswith("the ") else text


def _credentials(proxy_url: SplitResult) -> dict[str, str]:
    if proxy_url.username is None:
        return {}
    pair = f"{unquote(proxy_url.username)}:{unquote(proxy_url.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _run_with_timeout(timeout_s: float, work: Callable[[], Result]) -> Result | None:
    """The result of `work`, or None after a timeout. Raises its `OSError`."""
    outcome: list[Result] = []
    problem: list[OSError] = []

    def run() -> None:
        try:
            outcome.append(work())
        except OSError as error:
            problem.append(error)

    thread = threading.Thread(target=run, name="name lookup", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if problem:
        raise problem[0]
    return outcome[0] if outcome else None
