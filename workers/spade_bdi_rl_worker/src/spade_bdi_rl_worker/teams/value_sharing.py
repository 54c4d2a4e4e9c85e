"""How learners of a team share action values: export, merge, and encoding as XMPP messages."""

from __future__ import annotations

import base64
import json
import uuid
import zlib
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding

_MAX_MESSAGE_CHARS = 24_000
"""XMPP servers reject stanzas larger than about 64 KiB."""
_MAX_DECOMPRESSED_BYTES = 64 << 20
"""A larger table is an error, or an attempt to fill the memory."""
_SHARING_REMEDY = "Share values only between learners of the same environment and method."


def export_values(method: Method, encoding: StateEncoding) -> dict[str, Any]:
    """Return the action values and visit counts of visited states, as JSON values."""
    n_actions, names = method.values.n_actions, encoding.names
    rows = {}
    for state, values in enumerate(method.values.rows):
        visits = method.visits[state * n_actions : (state + 1) * n_actions]
        if any(visits):
            name = str(state) if names is None else names[state]
            rows[name] = [[round(value, 9) for value in values], visits]
    return {"actions": n_actions, "rows": rows}


def merge_values(method: Method, shared: Any, encoding: StateEncoding) -> None:
    """Set each value to the mean of both, weighted by visit counts. May raise `WorkerError`."""
    n_actions = method.values.n_actions
    try:
        if shared["actions"] != n_actions:
            raise WorkerError(
                f"A teammate shared values of {shared['actions']} actions, expected {n_actions}.",
                remedy=_SHARING_REMEDY,
            )
        rows = [(name, values, visits) for name, (values, visits) in shared["rows"].items()]
    except (KeyError, TypeError, ValueError):
        raise WorkerError(
            "The values that a teammate shared cannot be read.", remedy=_SHARING_REMEDY
        ) from None
    for name, values, visits in rows:
        state = encoding.index_of_name(name)
        if state is None:
            raise WorkerError(
                f"A teammate shared values of an unknown state {name}.", remedy=_SHARING_REMEDY
            )
        _merge_row(method, state, values, visits)


def _merge_row(method: Method, state: int, values: list[float], visits: list[int]) -> None:
    for action, (value, visit_count) in enumerate(zip(values, visits, strict=True)):
        own_count = method.visits[state * method.values.n_actions + action]
        if visit_count:
            weight = visit_count / (visit_count + own_count)
            for table in method.tables:
                own_value = table.rows[state][action]
                table.set_value(state, action, own_value + weight * (value - own_value))


def encode_messages(shared: Any) -> list[str]:
    """Return the bodies of the messages that transfer the values, in order."""
    plain = json.dumps(shared, separators=(",", ":")).encode()
    encoded = base64.b85encode(zlib.compress(plain, 6)).decode("ascii")
    chunks = [
        encoded[start : start + _MAX_MESSAGE_CHARS]
        for start in range(0, len(encoded), _MAX_MESSAGE_CHARS)
    ]
    transfer_id = uuid.uuid4().hex[:12]
    return [
        json.dumps({"parcel": transfer_id, "part": index, "parts": len(chunks), "data": chunk})
        for index, chunk in enumerate(chunks)
    ]


class ValueReceiver:
    """Reassembles messages of `encode_messages`, with one unfinished transfer per sender."""

    def __init__(self) -> None:
        self._transfers: dict[str, tuple[str, dict[int, str]]] = {}

    def add(self, sender: str, body: str) -> Any | None:
        """Return the shared values if `body` was the last missing chunk; otherwise None."""
        try:
            message = json.loads(body)
            transfer_id, index, count = message["parcel"], message["part"], message["parts"]
            known_id, chunks = self._transfers.get(sender, ("", {}))
            if known_id != transfer_id:
                chunks = {}
            chunks[index] = message["data"]
            self._transfers[sender] = (transfer_id, chunks)
            if len(chunks) < count:
                return None
            del self._transfers[sender]
            encoded = "".join(chunks[number] for number in range(count))
            return json.loads(_decompress(base64.b85decode(encoded)))
        except (ValueError, KeyError, TypeError, zlib.error):
            # Teammates run this same code, so only a server that truncates messages causes this.
            self._transfers.pop(sender, None)
            return None


def _decompress(compressed: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    plain = decompressor.decompress(compressed, _MAX_DECOMPRESSED_BYTES)
    if decompressor.unconsumed_tail:
        raise ValueError("the shared values are too large")
    return plain
