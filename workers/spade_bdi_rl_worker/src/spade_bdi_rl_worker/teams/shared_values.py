"""What a learner knows, as messages that any XMPP server lets through."""

from __future__ import annotations

import base64
import json
import uuid
import zlib
from typing import Any

_LETTERS = 24_000
"""Of one message. Servers refuse stanzas of more than some 64 KiB."""
_LARGEST_BYTES = 64 << 20
"""Unpacked. A table of that size is a mistake, or an attempt to fill the memory."""


def pack(shared: Any) -> list[str]:
    """The bodies of the messages, in order."""
    plain = json.dumps(shared, separators=(",", ":")).encode()
    letters = base64.b85encode(zlib.compress(plain, 6)).decode("ascii")
    parts = [letters[start : start + _LETTERS] for start in range(0, len(letters), _LETTERS)]
    name = uuid.uuid4().hex[:12]
    return [
        json.dumps({"parcel": name, "part": number, "parts": len(parts), "data": part})
        for number, part in enumerate(parts)
    ]


class Parcels:
    """Puts what was packed together again. Keeps one unfinished parcel of each sender."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[str, dict[int, str]]] = {}

    def add(self, sender: str, body: str) -> Any | None:
        """What was shared, when `body` was its last missing part; else None."""
        try:
            message = json.loads(body)
            name, part, parts = message["parcel"], message["part"], message["parts"]
            known, collected = self._parts.get(sender, ("", {}))
            if known != name:
                collected = {}
            collected[part] = message["data"]
            self._parts[sender] = (name, collected)
            if len(collected) < parts:
                return None
            del self._parts[sender]
            letters = "".join(collected[number] for number in range(parts))
            return json.loads(_unpack(base64.b85decode(letters)))
        except (ValueError, KeyError, TypeError, zlib.error):
            # Of a teammate, hence of this same code: only a server that cuts messages makes these.
            self._parts.pop(sender, None)
            return None


def _unpack(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(packed, _LARGEST_BYTES)
    if unpacker.unconsumed_tail:
        raise ValueError("it is too large")
    return plain
