"""What the groups of calls that make up `TrainerClient` share."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mosaic.client.connection import Connection
from mosaic.client.streams import Opener, Stream

Item = TypeVar("Item")

DEFAULT_PATIENCE_S = 60.0


class CallGroup:
    """Some of the daemon's calls, over a connection that all groups share."""

    def __init__(self, connection: Connection, patience_s: float | None) -> None:
        self._connection = connection
        self._patience_s = patience_s

    def _stream(
        self,
        method: Opener,
        request: Callable[[], Any],
        unpack: Callable[[Any], Iterable[Item]],
        at_end: Callable[[], Iterable[Item]] = tuple,
    ) -> Stream[Item]:
        """A stream that waits for a lost daemon as long as this client was told to."""
        return Stream(
            self._connection,
            method,
            request,
            unpack,
            at_end=at_end,
            patience_s=self._patience_s,
        )
