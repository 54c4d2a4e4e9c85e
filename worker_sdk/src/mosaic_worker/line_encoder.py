"""Turns records into the bytes of their lines, whatever is in them.

An `Emitter` owns one and lends it to its `LineWriter`, which encodes a whole burst in one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mosaic_worker.encoding import UNENCODABLE, as_fields, encode_with_care
from mosaic_worker.tally import Tally

if TYPE_CHECKING:
    from mosaic_worker.encoding import Encoder, Record

MAX_LINE_BYTES = 1 << 20  # what the trainer accepts, newline included

ODD_VALUE = "W101"
"""A value cannot be written as JSON; its repr() is kept instead."""

LINE_TOO_LONG = "W102"
"""A line was over 1 MiB; it was shortened or not written."""

_SHED_IN_ORDER = ("render", "obs", "info", "llm", "bdi")


class LineEncoder:
    """Lines of records and, where something could not be written as it was, of a warning.

    Nothing here raises or writes, and every method may be called from any thread.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encode = encoder.encode
        self._encode_lines = encoder.encode_lines
        self._tally = Tally()

    def body(self, records: list[Record], lines: list[bytes]) -> bytes:
        """The records encoded, then the lines as they are, each with its newline."""
        body = self._encoded(records) if records else b""
        return body + b"\n".join([*lines, b""]) if lines else body

    def careful_lines(self, record: Record) -> list[bytes]:
        """For a record with a null in it (perhaps a NaN), with odd values, or too long."""
        line, odd = encode_with_care(as_fields(record))
        lines = [line] if len(line) < MAX_LINE_BYTES else self._shortened(record)
        if odd:
            lines += self._warning(
                ODD_VALUE,
                f"A value cannot be written as JSON; its repr() is kept instead: {odd[0]}.",
            )
        return lines

    def unsaid_warnings(self) -> list[bytes]:
        """Lines for what has been counted since it was last mentioned."""
        return [_log_line(*unsaid) for unsaid in self._tally.take_unsaid()]

    def _encoded(self, records: list[Record]) -> bytes:
        try:
            body = self._encode_lines(records)
        except UNENCODABLE:
            pass
        else:
            if body.find(b"null") < 0 and len(body) < MAX_LINE_BYTES:
                return body
        lines = [line for record in records for line in self._lines(record)]
        return b"\n".join([*lines, b""])

    def _lines(self, record: Record) -> list[bytes]:
        try:
            line = self._encode(record)
        except UNENCODABLE:
            return self.careful_lines(record)
        if line.find(b"null") < 0 and len(line) < MAX_LINE_BYTES:
            return [line]
        return self.careful_lines(record)

    def _shortened(self, record: Record) -> list[bytes]:
        """Let the step itself survive: shed what the trainer can do without, largest first."""
        fields = dict(as_fields(record))
        shed = []
        for name in _SHED_IN_ORDER:
            if fields.pop(name, None) is None:
                continue
            shed.append(name)
            line, _ = encode_with_care(fields)
            if len(line) < MAX_LINE_BYTES:
                left_out = f"{' and '.join(shed)} left out of it"
                message = f"A {fields['type']} line was over 1 MiB; {left_out}."
                return [line, *self._warning(LINE_TOO_LONG, message)]
        message = f"A {fields['type']} line was over 1 MiB and was not written."
        return self._warning(LINE_TOO_LONG, message)

    def _warning(self, code: str, message: str) -> list[bytes]:
        count = self._tally.add(code, message)
        return [_log_line(code, message, count)] if count else []


def _log_line(code: str, message: str, count: int) -> bytes:
    fields = {"level": "warning", "code": code, "message": message, "fields": {"count": count}}
    return encode_with_care({"type": "log", **fields})[0]
