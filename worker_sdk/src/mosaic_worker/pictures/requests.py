"""What the daemon asks the picture process for, one JSON line each."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, NamedTuple

from mosaic_worker.resimulation.parent import end_with_children

_READ_BYTES = 65536


class PictureRequest(NamedTuple):
    """One environment, as it is to be made and reset."""

    number: int
    env_id: str
    env_kwargs: dict[str, Any]
    seed: int


def read_requests(descriptor: int, take: Callable[[PictureRequest], object]) -> None:
    """Hands over every request as it comes. The end of the input is the end of the process."""
    rest = b""
    while True:
        part = os.read(descriptor, _READ_BYTES)
        if not part:
            end_with_children()
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            request = _request(line)
            if request is not None:
                take(request)


def _request(line: bytes) -> PictureRequest | None:
    try:
        fields = json.loads(line)
        return PictureRequest(
            fields["request"], fields["env_id"], dict(fields["env_kwargs"]), fields["seed"]
        )
    except (ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"not a request: {line[:200]!r}: {error}\n")
        return None
