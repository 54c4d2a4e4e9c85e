"""Cursors over a run's store: each look gives what came since the last one, as messages."""

from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.telemetry.chunks import StoredChunk
from mosaic.telemetry.reader import StoredEvent, TelemetryReader
from mosaic.trainer.service.following import Batch
from mosaic.trainer.service.store_view import Lane, newest_chunk

_CHUNKS_PER_LOOK = 16
_EPISODES_PER_LOOK = 1_000
_EVENTS_PER_LOOK = 200
_EVENT_BYTES_PER_MESSAGE = 1 << 20


class ChunkCursor:
    """Lines of steps or metrics, in the chunks as they are stored: nothing is encoded again."""

    def __init__(self, lane: Lane, after: int, *, newest_only: bool) -> None:
        self._lane = lane
        self._after = after
        self._newest_only = newest_only

    def look(self, reader: TelemetryReader) -> Batch[pb.LineChunk]:
        if self._newest_only:
            newest = newest_chunk(reader, self._lane, self._after)
            return Batch([self._message(newest)] if newest else [], there_is_more=False)
        chunks = reader.chunks_after(self._lane, self._after, _CHUNKS_PER_LOOK)
        return Batch(
            [self._message(chunk) for chunk in chunks],
            there_is_more=len(chunks) == _CHUNKS_PER_LOOK,
        )

    def _message(self, chunk: StoredChunk) -> pb.LineChunk:
        skipped = max(0, chunk.first_seq - (self._after + 1))
        self._after = chunk.first_seq + chunk.lines - 1
        return pb.LineChunk(
            first_seq=chunk.first_seq, lines=chunk.lines, zstd=chunk.data, skipped=skipped
        )


class EpisodeCursor:
    """Episodes that are new or have changed, in order of change."""

    def __init__(self, after: int, *, newest_only: bool) -> None:
        self._after = after
        self._newest_only = newest_only

    def look(self, reader: TelemetryReader) -> Batch[pb.EpisodeBatch]:
        episodes = reader.episodes_after(self._after, _EPISODES_PER_LOOK)
        there_is_more = len(episodes) == _EPISODES_PER_LOOK
        if not episodes:
            return Batch([], there_is_more=False)
        self._after = episodes[-1].revision
        if self._newest_only:
            episodes = [] if there_is_more else episodes[-1:]
        batch = pb.EpisodeBatch(episodes=map(_episode, episodes))
        return Batch([batch] if episodes else [], there_is_more=there_is_more)


class EventCursor:
    """All other lines, of one type or of any, in order of arrival."""

    def __init__(self, after: int, kind: str | None) -> None:
        self._after = after
        self._kind = kind

    def look(self, reader: TelemetryReader) -> Batch[pb.EventBatch]:
        events = reader.events_after(self._after, self._kind, _EVENTS_PER_LOOK)
        if events:
            self._after = events[-1].seq
        return Batch(_event_batches(events), there_is_more=len(events) == _EVENTS_PER_LOOK)


def _event_batches(events: list[StoredEvent]) -> list[pb.EventBatch]:
    """In messages that any client takes: a line may have a megabyte."""
    batches: list[pb.EventBatch] = []
    room = 0
    for event in events:
        if not batches or len(event.line) > room:
            batches.append(pb.EventBatch())
            room = _EVENT_BYTES_PER_MESSAGE
        batches[-1].events.add(seq=event.seq, type=event.type, line=event.line)
        room -= len(event.line)
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
