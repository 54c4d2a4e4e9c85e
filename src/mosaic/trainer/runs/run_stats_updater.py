"""RunStatsUpdater: keeps the digests of all live runs up to date, in memory and in the registry."""

import asyncio
import logging
import threading
import time
from collections.abc import Mapping

from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunStats
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.run_controller import RunController

_log = logging.getLogger(__name__)

_INTERVAL_S = 0.5
_IDLE_FACTOR = 10.0
_QUIET_INTERVAL_S = 5.0
"""A run that stores nothing is checked too: it may have stalled."""


class RunStatsUpdater:
    """Updates runs whose stores have grown, twice a second and on one thread at a time."""

    def __init__(self, registry: RunRegistry, controllers: Mapping[str, RunController]) -> None:
        self._registry = registry
        self._controllers = controllers
        self._lock = threading.Lock()
        self._grown: set[str] = set()
        self._updated_at: dict[str, float] = {}
        self._has_runs = asyncio.Event()

    def mark_dirty(self, run_id: str) -> None:
        """Safe from any thread."""
        with self._lock:
            self._grown.add(run_id)

    def wake(self) -> None:
        """Call on the loop after a run was added: an idle daemon does not poll."""
        self._has_runs.set()

    async def run(self) -> None:
        """Update until cancelled."""
        while True:
            if not self._controllers:
                self._has_runs.clear()
            await self._has_runs.wait()
            start = time.monotonic()
            try:
                controllers = list(self._controllers.values())
                await run_in_thread(self._update, controllers)
                for controller in controllers:
                    await controller.follow_worker()
            except UserError as error:
                _log.warning("T143 the digests of runs could not be updated: %s", error)
            except Exception:  # noqa: BLE001 - the next update may succeed
                _log.exception("T154 the digests of runs could not be updated because of a bug")
            # Less often with many runs: storing and streaming have priority.
            await asyncio.sleep(max(_INTERVAL_S, (time.monotonic() - start) * _IDLE_FACTOR))

    def _update(self, controllers: list[RunController]) -> None:
        with self._lock:
            grown, self._grown = self._grown, set()
        now = time.monotonic()
        digests: dict[str, RunStats] = {}
        for controller in controllers:
            quiet_s = now - self._updated_at.get(controller.run_id, float("-inf"))
            if not controller.state.is_final and (
                controller.run_id in grown or quiet_s >= _QUIET_INTERVAL_S
            ):
                self._updated_at[controller.run_id] = now
                try:
                    digests[controller.run_id] = controller.refresh()
                except UnknownRunError:
                    continue  # deleted in the meantime
                except (UserError, OSError) as error:
                    _log.warning("T155 run %s could not be inspected: %s", controller.run_id, error)
                except Exception:  # noqa: BLE001 - the other runs must be updated
                    _log.exception("T163 run %s could not be inspected", controller.run_id)
        self._updated_at = {
            controller.run_id: self._updated_at[controller.run_id]
            for controller in controllers
            if controller.run_id in self._updated_at
        }
        if digests:
            self._registry.set_digests(digests)
