"""WatchRuns: events of runs from a sequence number on, and their newest digests."""

import asyncio
import time
from collections.abc import AsyncIterator, Collection

import msgspec

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.contract.run_events import DigestChanged, EventsForgotten, RunEvent
from mosaic.contract.run_states import LIVE_STATES
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.runs.commit_signals import REGISTRY
from mosaic.trainer.service.partial_servicer import Context, PartialServicer
from mosaic.trainer.service.request_checks import (
    MAX_CURSOR,
    BadRequestError,
    checked_integer,
    checked_run_id,
)
from mosaic.trainer.service.store_view import POLL_S, wait_for_change
from mosaic.trainer.trainer import Trainer

_EVENTS_PER_READ = 500
_DIGEST_INTERVAL_S = 0.25
_MAX_RUN_IDS = 1_000


class WatchServicer(PartialServicer):
    """The registry stores events, so a client that reconnects misses none."""

    async def WatchRuns(
        self, request: pb.WatchRunsRequest, _: Context
    ) -> AsyncIterator[pb.RunEvent]:
        run_ids = _run_ids(request)
        after_seq = checked_integer("after_seq", request.after_seq, -1, MAX_CURSOR)
        registry = self._trainer.registry
        digests = _DigestWatch(self._trainer, run_ids) if request.digests else None
        with self._trainer.commits.listen(REGISTRY) as changed:
            last = await run_in_thread(registry.last_event_seq)
            seq = last if after_seq == -1 else after_seq
            if seq > last:
                # A number of another registry: what the client knows is out of date.
                yield _message(RunEvent(seq=last, t=time.time(), run_id="", what=EventsForgotten()))
                seq = last
            while True:
                changed.clear()
                last = await run_in_thread(registry.last_event_seq)
                events = await run_in_thread(registry.events_after, seq, _EVENTS_PER_READ, run_ids)
                for event in events:
                    seq = event.seq
                    yield _message(event)
                if len(events) >= _EVENTS_PER_READ:
                    continue
                # Events of other runs in between are skipped: they were filtered out.
                seq = max(seq, last)
                if digests is not None:
                    for digest in await digests.changed():
                        yield _message(digest)
                if not request.follow:
                    return
                await _pause(changed, digests)


class _DigestWatch:
    """The newest digests of live runs, each sent when it has changed."""

    def __init__(self, trainer: Trainer, run_ids: Collection[str]) -> None:
        self._trainer = trainer
        self._run_ids = frozenset(run_ids)
        self._sent: dict[str, RunStats] = {}

    @property
    def has_runs(self) -> bool:
        return bool(self._sent)

    async def changed(self) -> list[RunEvent]:
        live = [
            record
            for record in await run_in_thread(self._trainer.registry.in_states, LIVE_STATES)
            if not self._run_ids or record.run_id in self._run_ids
        ]
        events = [event for record in live if (event := self._event_of(record))]
        ended = self._sent.keys() - {record.run_id for record in live}
        for run_id in ended:  # the event of their final state carries the final digest
            del self._sent[run_id]
        return events

    def _event_of(self, record: RunRecord) -> RunEvent | None:
        digest = self._trainer.digest(record.run_id) or record.digest
        if self._sent.get(record.run_id) == digest:
            return None
        self._sent[record.run_id] = digest
        return RunEvent(
            seq=0,
            t=time.time(),
            run_id=record.run_id,
            run=msgspec.structs.replace(record, digest=digest),
            what=DigestChanged(),
        )


async def _pause(changed: asyncio.Event, digests: _DigestWatch | None) -> None:
    if digests is not None and digests.has_runs:
        await wait_for_change(changed, _DIGEST_INTERVAL_S)
    else:
        await wait_for_change(changed, POLL_S)


def _run_ids(request: pb.WatchRunsRequest) -> tuple[str, ...]:
    if len(request.run_ids) > _MAX_RUN_IDS:
        raise BadRequestError(
            "run_ids",
            f"has {len(request.run_ids)} entries.",
            f"Send at most {_MAX_RUN_IDS}, or none to watch all.",
        )
    return tuple(checked_run_id(run_id, "run_ids") for run_id in request.run_ids)


def _message(event: RunEvent) -> pb.RunEvent:
    return to_message(event, pb.RunEvent)
