"""ULIDs: ids that sort by time of creation, for runs, checkpoints and data sets."""

import os
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUE_OF = {letter: value for value, letter in enumerate(_ALPHABET)}
_LENGTH = 26
_RANDOM_BITS = 80
_MAX_FIRST = 7  # 26 letters of 5 bits are 130; a ULID has 128


def new_ulid(time_ms: int | None = None) -> str:
    """Generate a ULID for `time_ms` (milliseconds since the epoch). Default: now."""
    if time_ms is None:
        time_ms = time.time_ns() // 1_000_000
    value = (time_ms << _RANDOM_BITS) | int.from_bytes(os.urandom(_RANDOM_BITS // 8), "big")
    letters = []
    for _ in range(_LENGTH):
        letters.append(_ALPHABET[value & 31])
        value >>= 5
    return "".join(reversed(letters))


def is_ulid(text: str) -> bool:
    """Return whether `text` is a ULID in canonical form (upper case, no separators)."""
    return (
        len(text) == _LENGTH
        and all(letter in _VALUE_OF for letter in text)
        and _VALUE_OF[text[0]] <= _MAX_FIRST
    )


def ulid_time_ms(ulid: str) -> int:
    """Return the creation time of a ULID, in milliseconds since the epoch."""
    if not is_ulid(ulid):
        raise ValueError(f"not a ULID: {ulid!r}")
    value = 0
    for letter in ulid:
        value = value << 5 | _VALUE_OF[letter]
    return value >> _RANDOM_BITS
