"""WatchRuns of an idle run while other runs have many events."""

import asyncio
import threading
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mosaic.contract.ids import new_ulid
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_events import RunEvent
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.commit_signals import REGISTRY, CommitSignals
from mosaic.trainer.service.watching import WatchServicer

_TIMEOUT_S = 30.0
_KEPT_EVENTS = 5
_CONFIG = TrainRunConfig(worker="echo_worker", algo="echo", env_id="Echo-v0")


class ObservedRegistry(RunRegistry):
    """Signals when events are first read."""

    def __init__(self, path: Path, **options: Any) -> None:
        super().__init__(path, **options)
        self.events_read = threading.Event()

    def events_after(
        self, seq: int, limit: int = 500, run_ids: Collection[str] = ()
    ) -> list[RunEvent]:
        self.events_read.set()
        return super().events_after(seq, limit, run_ids)


def test_a_watcher_of_an_idle_run_need_not_list_again(tmp_path: Path) -> None:
    """Forgotten events of other runs do not affect it; it gets the next event of its run."""
    asyncio.run(_watch_an_idle_run(tmp_path / "trainer.db"))


async def _watch_an_idle_run(path: Path) -> None:
    commits = CommitSignals()
    with ObservedRegistry(
        path, on_change=lambda: commits.notify(REGISTRY), kept_events=_KEPT_EVENTS
    ) as registry:
        idle = registry.add(new_ulid(), _CONFIG).run_id
        busy = registry.add(new_ulid(), _CONFIG).run_id
        calls = WatchServicer()
        calls._trainer = _services(registry, commits)
        request = pb.WatchRunsRequest(after_seq=0, run_ids=[idle], follow=True)
        context: Any = None
        events = aiter(calls.WatchRuns(request, context))
        assert (await _next(events)).run_id == idle
        pending = asyncio.ensure_future(_next(events))
        for number in range(4 * _KEPT_EVENTS):
            registry.events_read.clear()
            await run_in_thread(registry.annotate, busy, note=str(number))
            assert await run_in_thread(registry.events_read.wait, _TIMEOUT_S)
        await run_in_thread(registry.annotate, idle, note="changed")
        event = await pending
        assert event.run_id == idle
        assert not event.HasField("forgotten")
        await events.aclose()  # type: ignore[attr-defined]


def _services(registry: RunRegistry, commits: CommitSignals) -> Any:
    return SimpleNamespace(registry=registry, commits=commits)


async def _next(events: AsyncIterator[pb.RunEvent]) -> pb.RunEvent:
    async with asyncio.timeout(_TIMEOUT_S):
        return await anext(events)
