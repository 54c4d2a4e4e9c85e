"""ThumbnailService: renders one environment after the other in one process, which ends when idle.

Used by `service/frames.py`. Event loop only.
"""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mosaic.contract.run_config import BundleConfig
from mosaic.envs.catalog import environment, family
from mosaic.envs.entries import BUNDLE
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.concurrency import run_in_long_thread
from mosaic.trainer.simulation.helper_process import ScratchFolders
from mosaic.trainer.simulation.runtime import SimulationRuntime
from mosaic.trainer.thumbnails.render_process import RenderProcess, Thumbnail, packages_missing
from mosaic.trainer.trainer import Trainer

TIMEOUT_S = 20.0
"""Limit for one environment; most take a tenth of a second."""
IDLE_TIMEOUT_S = 5.0
"""Starting Python and importing gymnasium takes longer than rendering."""


class ThumbnailRequest(msgspec.Struct, frozen=True):
    """How to create and reset the environment."""

    env_id: str
    env_kwargs: Mapping[str, Any] = {}
    seed: int = 0
    python_path: Sequence[str] = ()


class ThumbnailService:
    """One process and one thumbnail at a time, so that a hundred requests do not slow a run."""

    def __init__(
        self,
        trainer: Trainer,
        scratch: ScratchFolders,
        *,
        timeout_s: float = TIMEOUT_S,
        idle_timeout_s: float = IDLE_TIMEOUT_S,
    ) -> None:
        self._trainer = trainer
        self._scratch = scratch
        self._timeout_s = timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._lock = asyncio.Lock()
        self._process: RenderProcess | None = None
        self._idle_task: asyncio.Task[None] | None = None

    async def render(self, request: ThumbnailRequest) -> Thumbnail:
        """The thumbnail, after those requested before. Raises `UserError`.

        Cancelling the call kills the process, so that a hanging environment blocks nothing.
        """
        async with self._lock:
            self._cancel_idle_task()
            cancelled = threading.Event()
            rendering = asyncio.ensure_future(run_in_long_thread(self._render, request, cancelled))
            try:
                return await asyncio.shield(rendering)
            except asyncio.CancelledError:
                cancelled.set()
                if self._process is not None:
                    self._process.kill()
                await asyncio.wait({rendering})
                rendering.exception()  # retrieved, or asyncio would log it
                raise
            finally:
                self._start_idle_task()

    def _render(self, request: ThumbnailRequest, cancelled: threading.Event) -> Thumbnail:
        """On a thread of the long pool: the process dies with the thread that started it."""
        process = self._process_for(request)
        if cancelled.is_set():
            process.kill()
        try:
            return process.render(request.env_id, request.env_kwargs, request.seed)
        finally:
            if not process.is_usable:
                self._close()

    def _process_for(self, request: ThumbnailRequest) -> RenderProcess:
        trainer = self._trainer
        runtime = runtime_for(trainer.bundles, request.env_id, request.python_path)
        if self._process is not None and self._process.runtime != runtime:
            self._close()
        if self._process is None:
            self._process = RenderProcess(
                runtime,
                self._scratch,
                trainer.secrets.without_secrets(os.environ),
                timeout_s=self._timeout_s,
            )
        return self._process

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _cancel_idle_task(self) -> None:
        if self._idle_task is not None:
            self._idle_task.cancel()
            self._idle_task = None

    def _start_idle_task(self) -> None:
        if self._process is not None:
            self._idle_task = asyncio.create_task(self._close_when_idle())

    async def _close_when_idle(self) -> None:
        await asyncio.sleep(self._idle_timeout_s)
        async with self._lock:
            self._idle_task = None  # from here on it must not be cancelled
            await run_in_long_thread(self._close)


def runtime_for(bundles: BundleStore, env_id: str, python_path: Sequence[str]) -> SimulationRuntime:
    """The Python of the bundle that plays the environment; one with more extras serves as well.

    Raises `UserError` when it is not installed: nothing is installed for a thumbnail.
    """
    extra = family(environment(env_id).family).extra
    extras = (extra,) if extra else ()
    prepared = bundles.lookup(BUNDLE, BundleConfig(name=BUNDLE, extras=extras))
    if prepared is None:
        raise packages_missing(env_id, BUNDLE, extras)
    return SimulationRuntime(prepared.python, (prepared.code, *map(Path, python_path)))
