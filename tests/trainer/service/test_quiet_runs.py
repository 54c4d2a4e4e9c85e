"""WatchRuns of a run to which nothing happens while much happens to others."""

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
        self.looked = threading.Event()

    def events_after(
        self, seq: int, limit: int = 500, run_ids: Collection[str] = ()
    ) -> list[RunEvent]:
        self.looked.set()
        return super().events_after(seq, limit, run_ids)


def test_a_watcher_of_a_quiet_run_need_not_list_again(tmp_path: Path) -> None:
    """What was forgotten meanwhile was none of its business; the next thing it hears is."""
    asyncio.run(_watch_a_quiet_run(tmp_path / "trainer.db"))


async def _watch_a_quiet_run(path: Path) -> None:
    commits = CommitSignals()
    with ObservedRegistry(
        path, on_change=lambda: commits.notify(REGISTRY), kept_events=_KEPT_EVENTS
    ) as registry:
        quiet = registry.add(new_ulid(), _CONFIG).run_id
        noisy = registry.add(new_ulid(), _CONFIG).run_id
        calls = WatchServicer()
        calls._trainer = _parts(registry, commits)
        request = pb.WatchRunsRequest(after_seq=0, run_ids=[quiet], follow=True)
        context: Any = None
        events = aiter(calls.WatchRuns(request, context))
        assert (await _next(events)).run_id == quiet
        coming = asyncio.ensure_future(_next(events))
        for number in range(4 * _KEPT_EVENTS):
            registry.looked.clear()
            await run_in_thread(registry.annotate, noisy, note=str(number))
            assert await run_in_thread(registry.looked.wait, _TIMEOUT_S)
        await run_in_thread(registry.annotate, quiet, note="at last")
        event = await coming
        assert event.run_id == quiet
        assert not event.HasField("forgotten")
        await events.aclose()  # type: ignore[attr-defined]


def _parts(registry: RunRegistry, commits: CommitSignals) -> Any:
    return SimpleNamespace(registry=registry, commits=commits)


async def _next(events: AsyncIterator[pb.RunEvent]) -> pb.RunEvent:
    async with asyncio.timeout(_TIMEOUT_S):
        return await anext(events)
