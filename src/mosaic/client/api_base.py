"""ApiBase: what the groups of calls that make up `TrainerClient` share.

A separate module because every `*_api` module imports it.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mosaic.client.connection import Connection
from mosaic.client.streams import Opener, Stream

Item = TypeVar("Item")

DEFAULT_RECONNECT_TIMEOUT_S = 60.0


class ApiBase:
    """One group of the daemon's calls, over a connection that all groups share."""

    def __init__(self, connection: Connection, reconnect_timeout_s: float | None) -> None:
        self._connection = connection
        self._reconnect_timeout_s = reconnect_timeout_s

    def _stream(
        self,
        method: Opener,
        request: Callable[[], Any],
        unpack: Callable[[Any], Iterable[Item]],
        at_end: Callable[[], Iterable[Item]] = tuple,
    ) -> Stream[Item]:
        """Open a stream with this client's reconnect timeout."""
        return Stream(
            self._connection,
            method,
            request,
            unpack,
            at_end=at_end,
            reconnect_timeout_s=self._reconnect_timeout_s,
        )
