"""Streams of what a run has told: steps, metrics, episodes and events, from its store."""

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.telemetry.reader import TelemetryReader
from mosaic.trainer.service.cursors import ChunkCursor, EpisodeCursor, EventCursor
from mosaic.trainer.service.following import DEFAULT_INTERVAL_S, Batch, follow_store
from mosaic.trainer.service.request_checks import (
    LARGEST_CURSOR,
    checked_line,
    checked_number,
    checked_whole,
)
from mosaic.trainer.service.service_part import Context, ServicePart
from mosaic.trainer.service.store_view import Lane

Message = TypeVar("Message")

_LONGEST_INTERVAL_S = 60.0


class StreamCalls(ServicePart):
    """Everything that is stored is sent once and in order, from the client's cursor on."""

    def StreamSteps(self, request: pb.StreamRequest, _: Context) -> AsyncIterator[pb.LineChunk]:
        return self._chunks(request, "step")

    def StreamMetrics(self, request: pb.StreamRequest, _: Context) -> AsyncIterator[pb.LineChunk]:
        return self._chunks(request, "metric")

    def StreamEpisodes(
        self, request: pb.StreamRequest, _: Context
    ) -> AsyncIterator[pb.EpisodeBatch]:
        cursor = EpisodeCursor(_after(request), newest_only=request.newest_only)
        return self._followed(request, cursor.look, _interval_s(request))

    def StreamEvents(
        self, request: pb.StreamEventsRequest, _: Context
    ) -> AsyncIterator[pb.EventBatch]:
        cursor = EventCursor(_after(request), checked_line("type", request.type) or None)
        return self._followed(request, cursor.look, DEFAULT_INTERVAL_S)

    def _chunks(self, request: pb.StreamRequest, lane: Lane) -> AsyncIterator[pb.LineChunk]:
        cursor = ChunkCursor(lane, _after(request), newest_only=request.newest_only)
        return self._followed(request, cursor.look, _interval_s(request))

    def _followed(
        self,
        request: pb.StreamRequest | pb.StreamEventsRequest,
        look: Callable[[TelemetryReader], Batch[Message]],
        min_interval_s: float,
    ) -> AsyncIterator[Message]:
        return follow_store(
            self._trainer,
            request.run_id,
            look,
            follow=request.follow,
            min_interval_s=min_interval_s,
        )


def _after(request: pb.StreamRequest | pb.StreamEventsRequest) -> int:
    return checked_whole("after", request.after, -1, LARGEST_CURSOR)


def _interval_s(request: pb.StreamRequest) -> float:
    asked = checked_number("min_interval_s", request.min_interval_s, 0.0, _LONGEST_INTERVAL_S)
    return asked or DEFAULT_INTERVAL_S
