"""LineEncoder: encodes records as lines, and warns about values that JSON cannot express.

An `Emitter` owns one and passes it to its `LineWriter`, which encodes a burst in one call.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from mosaic_worker.encoding import UNENCODABLE, encode_any, to_dict

if TYPE_CHECKING:
    from mosaic_worker.encoding import Encoder, Record

MAX_LINE_BYTES = 1 << 20  # what the trainer accepts, newline included

UNSERIALIZABLE_VALUE = "W101"
"""A value cannot be written as JSON; its repr() is kept instead."""

LINE_TOO_LONG = "W102"
"""A line exceeded 1 MiB; it was shortened or not written."""

_OMITTED_IN_ORDER = ("render", "obs", "info", "llm", "bdi")
_WARN_EVERY_S = 10.0


class LineEncoder:
    """Encodes records, with a warning line where a value could not be written unchanged.

    Nothing here raises or performs I/O. All methods are thread-safe.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encode = encoder.encode
        self._encode_lines = encoder.encode_lines
        self._throttle = LogThrottle()

    def body(self, records: list[Record], lines: list[bytes]) -> bytes:
        """The encoded records, then the lines unchanged, each with a newline."""
        body = self._encode_records(records) if records else b""
        return body + b"\n".join([*lines, b""]) if lines else body

    def encode_slow_path(self, record: Record) -> list[bytes]:
        """Lines of a record with a null (maybe a NaN), unserializable values, or too many bytes."""
        line, unserializable = encode_any(to_dict(record))
        lines = [line] if len(line) < MAX_LINE_BYTES else self._shorten(record)
        if unserializable:
            lines += self._warning(
                UNSERIALIZABLE_VALUE,
                "A value cannot be written as JSON; its repr() is kept instead: "
                f"{unserializable[0]}.",
            )
        return lines

    def pending_warnings(self) -> list[bytes]:
        """Lines of the warnings that the throttle has delayed."""
        return [_log_line(*pending) for pending in self._throttle.pop_pending()]

    def _encode_records(self, records: list[Record]) -> bytes:
        try:
            body = self._encode_lines(records)
        except UNENCODABLE:
            pass
        else:
            if body.find(b"null") < 0 and len(body) < MAX_LINE_BYTES:
                return body
        lines = [line for record in records for line in self._encode_record(record)]
        return b"\n".join([*lines, b""])

    def _encode_record(self, record: Record) -> list[bytes]:
        try:
            line = self._encode(record)
        except UNENCODABLE:
            return self.encode_slow_path(record)
        if line.find(b"null") < 0 and len(line) < MAX_LINE_BYTES:
            return [line]
        return self.encode_slow_path(record)

    def _shorten(self, record: Record) -> list[bytes]:
        """Keep the step and omit optional fields, usually the largest first."""
        fields = dict(to_dict(record))
        omitted = []
        for name in _OMITTED_IN_ORDER:
            if fields.pop(name, None) is None:
                continue
            omitted.append(name)
            line, _ = encode_any(fields)
            if len(line) < MAX_LINE_BYTES:
                names = " and ".join(omitted)
                message = f"A {fields['type']} line exceeded 1 MiB; {names} omitted."
                return [line, *self._warning(LINE_TOO_LONG, message)]
        message = f"A {fields['type']} line exceeded 1 MiB and was not written."
        return self._warning(LINE_TOO_LONG, message)

    def _warning(self, code: str, message: str) -> list[bytes]:
        count = self._throttle.add(code, message)
        return [_log_line(code, message, count)] if count else []


class LogThrottle:
    """Counts warnings per log code; each code is reported at most every ten seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._pending: dict[str, str] = {}
        self._next_report_s: dict[str, float] = {}
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def add(self, code: str, message: str) -> int:
        """Count one; returns the total if it should be reported now, else 0."""
        now = time.monotonic()
        with self._lock:
            count = self._counts[code] = self._counts.get(code, 0) + 1
            if now < self._next_report_s.get(code, 0.0):
                self._pending[code] = message
                return 0
            self._next_report_s[code] = now + _WARN_EVERY_S
            self._pending.pop(code, None)
            return count

    def pop_pending(self) -> list[tuple[str, str, int]]:
        """(code, last message, count) of every code counted since its last report."""
        with self._lock:
            pending = [(code, text, self._counts[code]) for code, text in self._pending.items()]
            self._pending.clear()
            return pending

    def _reset_after_fork(self) -> None:
        """In a forked child: the parent reports the pending warnings."""
        self._lock = threading.Lock()
        self._pending.clear()


def _log_line(code: str, message: str, count: int) -> bytes:
    fields = {"level": "warning", "code": code, "message": message, "fields": {"count": count}}
    return encode_any({"type": "log", **fields})[0]
