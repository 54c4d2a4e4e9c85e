"""Replacing secrets in bytes that come part by part, such as a log that is still being written."""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Redacted(NamedTuple):
    """What may be shown, and how many of the bytes given it stands for."""

    data: bytes
    end: int


class ByteRedactor:
    """Replaces the spellings of secrets; what might yet become one of them is left for later."""

    def __init__(self, spellings: Mapping[str, str]) -> None:
        """`spellings`: each text that must not be seen, with the name of its secret."""
        self._marks = {
            spelling.encode("utf-8", "surrogateescape"): f"[secret {name}]".encode()
            for spelling, name in spellings.items()
        }
        # The longest first: a value may begin with another one.
        self._spellings = sorted(self._marks, key=len, reverse=True)
        pattern = b"|".join(map(re.escape, self._spellings))
        self._pattern = re.compile(pattern) if pattern else None

    @property
    def reach(self) -> int:
        """So many bytes before a place decide whether a secret lies across it."""
        return len(self._spellings[0]) - 1 if self._spellings else 0

    def redact(self, data: bytes, begin: int = 0, *, is_all: bool = False) -> Redacted:
        """`data` from `begin` on; what lies before it is looked at only.

        Unless that `is_all`, an end with which a secret may begin is left: `Redacted.end` is where
        it starts, which is before `begin` when a secret may begin there.
        """
        if self._pattern is None:
            return Redacted(data[begin:], len(data))
        settled = len(data) if is_all else len(data) - self._unsettled(data)
        shown: list[bytes] = []
        at = begin
        for found in self._pattern.finditer(data):
            if found.start() >= settled:
                break
            if found.end() > begin:
                shown += (data[at : max(at, found.start())], self._marks[found[0]])
                at = found.end()
        end = settled if at == begin else max(at, settled)
        shown.append(data[at:end])
        return Redacted(b"".join(shown), end)

    def _unsettled(self, data: bytes) -> int:
        """The length of the longest end of `data` that is the beginning of a spelling."""
        longest = 0
        for spelling in self._spellings:
            length = min(len(spelling) - 1, len(data))
            while length > longest:
                # Only a beginning that ends like the data comes into question.
                length = spelling.rfind(data[-1:], 0, length) + 1
                if length > longest and data.endswith(spelling[:length]):
                    longest = length
                length -= 1
        return longest
