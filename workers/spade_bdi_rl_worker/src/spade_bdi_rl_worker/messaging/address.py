"""Where an agent's messages go, as the parameter `xmpp` says. Standard library only."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal

from mosaic_worker.errors import WorkerError

_FORM = re.compile(
    r"(?:(?P<domain>[A-Za-z0-9._-]+)@)?"
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})"
)
_LARGEST_PORT = 65535
_LONGEST_WORD = 60
_CONTAINER = ("", "off", "container", "none")
_EMBEDDED = "embedded"


@dataclass(frozen=True)
class Address:
    """`container`: no server. `embedded`: one of our own. `external`: at `host` and `port`."""

    kind: Literal["container", "embedded", "external"]
    host: str = ""
    port: int = 0
    domain: str = ""
    """What the names of accounts end with; the server must serve it."""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.host else self.kind


def account_name(*parts: str) -> str:
    """A name that every server takes for an account, from names that people gave."""
    words = (re.sub(r"[^a-z0-9_.]+", "-", part.lower()).strip("-.") for part in parts)
    return "-".join(word[:_LONGEST_WORD] for word in words if word) or "agent"


def parse_address(given: str) -> Address:
    """Raises `WorkerError` for what is none of the three."""
    text = given.strip()
    if text.lower() in _CONTAINER:
        return Address("container")
    if text.lower() == _EMBEDDED:
        return Address("embedded")
    match = _FORM.fullmatch(text)
    if match is None or not 0 < int(match["port"]) <= _LARGEST_PORT:
        raise WorkerError(
            f"`xmpp`: {given!r} is no address of a server.",
            remedy="Give `host:port` (such as xmpp.example.org:5222), or `domain@host:port` when"
            " the server's domain has another name; or `embedded`; or nothing.",
        )
    host = match["host"].strip("[]")
    # Nobody serves a domain called 127.0.0.1, and `localhost` is what servers are set up with.
    own_domain = "localhost" if is_this_machine(host) else host
    return Address("external", host, int(match["port"]), match["domain"] or own_domain)


def is_this_machine(host: str) -> bool:
    """Whether what is sent there does not leave the machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
