"""DigestKeeper: keeps the numbers of all live runs fresh, in memory and in the registry."""

import asyncio
import logging
import threading
import time
from collections.abc import Mapping

from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunStats
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.registry.failures import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.run_life import RunLife

_log = logging.getLogger(__name__)

_EVERY_S = 0.5
_SHARE = 10.0
_QUIET_EVERY_S = 5.0
"""A run that stores nothing is looked at too: it may have stalled."""


class DigestKeeper:
    """Looks at runs whose stores have grown, twice a second and on one thread at a time."""

    def __init__(self, registry: RunRegistry, lives: Mapping[str, RunLife]) -> None:
        self._registry = registry
        self._lives = lives
        self._lock = threading.Lock()
        self._grown: set[str] = set()
        self._looked_at: dict[str, float] = {}
        self._has_lives = asyncio.Event()

    def note_commit(self, run_id: str) -> None:
        """Safe from any thread."""
        with self._lock:
            self._grown.add(run_id)

    def note_lives(self) -> None:
        """Call on the loop after a life began, so that an idle daemon does not look at all."""
        self._has_lives.set()

    async def keep(self) -> None:
        """Until cancelled."""
        while True:
            if not self._lives:
                self._has_lives.clear()
            await self._has_lives.wait()
            began = time.monotonic()
            try:
                lives = list(self._lives.values())
                await in_thread(self._look, lives)
                for life in lives:
                    await life.follow_worker()
            except UserError as error:
                _log.warning("T143 the numbers of runs could not be kept: %s", error)
            except Exception:  # noqa: BLE001 - the edge of a task: the next look may do better
                _log.exception("T154 the numbers of runs could not be kept, by a bug")
            # With many runs less often: storing and streaming them comes first.
            await asyncio.sleep(max(_EVERY_S, (time.monotonic() - began) * _SHARE))

    def _look(self, lives: list[RunLife]) -> None:
        with self._lock:
            grown, self._grown = self._grown, set()
        now = time.monotonic()
        digests: dict[str, RunStats] = {}
        for life in lives:
            quiet_s = now - self._looked_at.get(life.run_id, float("-inf"))
            if not life.state.is_final and (life.run_id in grown or quiet_s >= _QUIET_EVERY_S):
                self._looked_at[life.run_id] = now
                try:
                    digests[life.run_id] = life.look()
                except UnknownRunError:
                    continue  # deleted meanwhile
                except (UserError, OSError) as error:
                    _log.warning("T155 run %s could not be looked at: %s", life.run_id, error)
        self._looked_at = {
            life.run_id: self._looked_at[life.run_id]
            for life in lives
            if life.run_id in self._looked_at
        }
        if digests:
            self._registry.set_digests(digests)
