"""Streams of a run's steps, metrics, episodes and events, read from its store by cursors."""

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.telemetry.chunks import StoredChunk
from mosaic.telemetry.reader import StoredEvent, TelemetryReader
from mosaic.trainer.service.partial_servicer import Context, PartialServicer
from mosaic.trainer.service.request_checks import (
    MAX_CURSOR,
    checked_integer,
    checked_line,
    checked_number,
)
from mosaic.trainer.service.response_redaction import ResponseRedactor
from mosaic.trainer.service.store_view import (
    DEFAULT_INTERVAL_S,
    Lane,
    MessageBatch,
    follow_store,
    newest_chunk,
)

_CHUNKS_PER_READ = 16
_EPISODES_PER_READ = 1_000
_EVENTS_PER_READ = 200
_EVENT_BYTES_PER_MESSAGE = 1 << 20


class ChunkCursor:
    """Lines of steps or metrics, in the chunks as they are stored: nothing is encoded again.

    The exception is a chunk that contains a secret.
    """

    def __init__(
        self, lane: Lane, after: int, *, newest_only: bool, redact: Callable[[bytes], bytes]
    ) -> None:
        self._redact = redact
        self._lane = lane
        self._after = after
        self._newest_only = newest_only

    def read_next(self, reader: TelemetryReader) -> MessageBatch[pb.LineChunk]:
        if self._newest_only:
            newest = newest_chunk(reader, self._lane, self._after)
            return MessageBatch([self._message(newest)] if newest else [], has_more=False)
        chunks = reader.chunks_after(self._lane, self._after, _CHUNKS_PER_READ)
        return MessageBatch(
            [self._message(chunk) for chunk in chunks],
            has_more=len(chunks) == _CHUNKS_PER_READ,
        )

    def _message(self, chunk: StoredChunk) -> pb.LineChunk:
        skipped = max(0, chunk.first_seq - (self._after + 1))
        self._after = chunk.first_seq + chunk.lines - 1
        return pb.LineChunk(
            first_seq=chunk.first_seq,
            lines=chunk.lines,
            zstd=self._redact(chunk.data),
            skipped=skipped,
        )


class EpisodeCursor:
    """Episodes that are new or have changed, in order of change."""

    def __init__(self, after: int, *, newest_only: bool) -> None:
        self._after = after
        self._newest_only = newest_only

    def read_next(self, reader: TelemetryReader) -> MessageBatch[pb.EpisodeBatch]:
        episodes = reader.episodes_after(self._after, _EPISODES_PER_READ)
        has_more = len(episodes) == _EPISODES_PER_READ
        if not episodes:
            return MessageBatch([], has_more=False)
        self._after = episodes[-1].revision
        if self._newest_only:
            episodes = [] if has_more else episodes[-1:]
        batch = pb.EpisodeBatch(episodes=map(_episode, episodes))
        return MessageBatch([batch] if episodes else [], has_more=has_more)


class EventCursor:
    """All other lines, of one event type or of any, in order of arrival."""

    def __init__(self, after: int, kind: str | None) -> None:
        self._after = after
        self._kind = kind

    def read_next(self, reader: TelemetryReader) -> MessageBatch[pb.EventBatch]:
        events = reader.events_after(self._after, self._kind, _EVENTS_PER_READ)
        if events:
            self._after = events[-1].seq
        return MessageBatch(_event_batches(events), has_more=len(events) == _EVENTS_PER_READ)


def _event_batches(events: list[StoredEvent]) -> list[pb.EventBatch]:
    """In messages of limited size: a line may have a megabyte."""
    batches: list[pb.EventBatch] = []
    free_bytes = 0
    for event in events:
        if not batches or len(event.line) > free_bytes:
            batches.append(pb.EventBatch())
            free_bytes = _EVENT_BYTES_PER_MESSAGE
        batches[-1].events.add(seq=event.seq, type=event.type, line=event.line)
        free_bytes -= len(event.line)
    return batches


def _episode(rollup: EpisodeRollup) -> pb.Episode:
    return pb.Episode(
        episode=rollup.episode,
        episode_id=rollup.episode_id,
        revision=rollup.revision,
        agent_id=rollup.agent_id,
        steps=rollup.steps,
        total_return=rollup.total_return,
        is_over=rollup.is_over,
        terminated=rollup.terminated,
        truncated=rollup.truncated,
        duplicate_steps=rollup.duplicate_steps,
        out_of_order_steps=rollup.out_of_order_steps,
        reported_steps=rollup.reported_steps,
        reported_return=rollup.reported_return,
    )


Message = TypeVar("Message")

_MAX_INTERVAL_S = 60.0


class StreamServicer(PartialServicer):
    """Everything stored is sent once and in order, from the client's cursor on."""

    def StreamSteps(self, request: pb.StreamRequest, _: Context) -> AsyncIterator[pb.LineChunk]:
        return self._chunks(request, "step")

    def StreamMetrics(self, request: pb.StreamRequest, _: Context) -> AsyncIterator[pb.LineChunk]:
        return self._chunks(request, "metric")

    def StreamEpisodes(
        self, request: pb.StreamRequest, _: Context
    ) -> AsyncIterator[pb.EpisodeBatch]:
        cursor = EpisodeCursor(_after(request), newest_only=request.newest_only)
        return self._follow(request, cursor.read_next, _interval_s(request))

    def StreamEvents(
        self, request: pb.StreamEventsRequest, _: Context
    ) -> AsyncIterator[pb.EventBatch]:
        cursor = EventCursor(_after(request), checked_line("type", request.type) or None)
        return self._follow(request, cursor.read_next, DEFAULT_INTERVAL_S)

    def _chunks(self, request: pb.StreamRequest, lane: Lane) -> AsyncIterator[pb.LineChunk]:
        redactor = ResponseRedactor(self._trainer.secrets.spellings)
        cursor = ChunkCursor(
            lane,
            _after(request),
            newest_only=request.newest_only,
            redact=redactor.redact_chunk,
        )
        return self._follow(request, cursor.read_next, _interval_s(request))

    def _follow(
        self,
        request: pb.StreamRequest | pb.StreamEventsRequest,
        read_next: Callable[[TelemetryReader], MessageBatch[Message]],
        min_interval_s: float,
    ) -> AsyncIterator[Message]:
        return follow_store(
            self._trainer,
            request.run_id,
            read_next,
            follow=request.follow,
            min_interval_s=min_interval_s,
        )


def _after(request: pb.StreamRequest | pb.StreamEventsRequest) -> int:
    return checked_integer("after", request.after, -1, MAX_CURSOR)


def _interval_s(request: pb.StreamRequest) -> float:
    interval_s = checked_number("min_interval_s", request.min_interval_s, 0.0, _MAX_INTERVAL_S)
    return interval_s or DEFAULT_INTERVAL_S
