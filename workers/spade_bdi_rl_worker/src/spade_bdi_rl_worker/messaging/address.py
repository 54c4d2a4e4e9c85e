"""The parameter `xmpp`: parses it into an address. Standard library only."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal

from mosaic_worker.errors import WorkerError

_ADDRESS = re.compile(
    r"(?:(?P<domain>[A-Za-z0-9._-]+)@)?"
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})"
)
_MAX_PORT = 65535
_MAX_PART_CHARS = 60
_CONTAINER = ("", "off", "container", "none")
_EMBEDDED = "embedded"


@dataclass(frozen=True)
class Address:
    """`container`: no server. `embedded`: started by the worker. `external`: `host` and `port`."""

    kind: Literal["container", "embedded", "external"]
    host: str = ""
    port: int = 0
    domain: str = ""
    """The domain of accounts; the server must serve it."""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.host else self.kind


def account_name(*parts: str) -> str:
    """Return an account name that every server accepts, from arbitrary names."""
    cleaned = (re.sub(r"[^a-z0-9_.]+", "-", part.lower()).strip("-.") for part in parts)
    return "-".join(part[:_MAX_PART_CHARS] for part in cleaned if part) or "agent"


def parse_address(value: str) -> Address:
    """Parse the parameter. Raises `WorkerError` for an invalid address."""
    text = value.strip()
    if text.lower() in _CONTAINER:
        return Address("container")
    if text.lower() == _EMBEDDED:
        return Address("embedded")
    match = _ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match["port"]) <= _MAX_PORT:
        raise WorkerError(
            f"`xmpp`: {value!r} is not a server address.",
            remedy="Enter `host:port` (such as xmpp.example.org:5222), or `domain@host:port` if"
            " the server's domain has another name; or `embedded`; or leave it empty.",
        )
    host = match["host"].strip("[]")
    # Servers on this machine are configured with the domain `localhost`, not 127.0.0.1.
    default_domain = "localhost" if is_loopback(host) else host
    return Address("external", host, int(match["port"]), match["domain"] or default_domain)


def is_loopback(host: str) -> bool:
    """Whether the host is a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
