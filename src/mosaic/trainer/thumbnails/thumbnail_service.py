"""Studio: draws one environment after the other, with one process that goes when all is quiet.

Used by `service/pictures.py`, on the event loop alone.
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
from mosaic.trainer.concurrency import in_long_thread
from mosaic.trainer.simulation.helper_process import ScratchFolders
from mosaic.trainer.simulation.runtime import SimulationRuntime
from mosaic.trainer.thumbnails.errors import PackagesMissingError
from mosaic.trainer.thumbnails.render_process import DrawnPicture, Painter
from mosaic.trainer.trainer import Trainer


def runtime_for(bundles: BundleStore, env_id: str, python_path: Sequence[str]) -> SimulationRuntime:
    """What is installed; one with more extras than the environment needs serves as well.

    Raises `PackagesMissingError`: nothing is installed for the sake of a picture.
    """
    extra = family(environment(env_id).family).extra
    extras = (extra,) if extra else ()
    prepared = bundles.lookup(BUNDLE, BundleConfig(name=BUNDLE, extras=extras))
    if prepared is None:
        raise PackagesMissingError(env_id, BUNDLE, extras)
    return SimulationRuntime(prepared.python, (prepared.code, *map(Path, python_path)))


PATIENCE_S = 20.0
"""An environment that takes longer is given up; most take a tenth of a second."""
STAYS_S = 5.0
"""Starting Python and importing gymnasium takes longer than drawing."""


class PictureWish(msgspec.Struct, frozen=True):
    """An environment as it is to be made and reset."""

    env_id: str
    env_kwargs: Mapping[str, Any] = {}
    seed: int = 0
    python_path: Sequence[str] = ()


class Studio:
    """At most one process, and one picture at a time: drawing a hundred must not slow a run."""

    def __init__(
        self,
        trainer: Trainer,
        scratch: ScratchFolders,
        *,
        patience_s: float = PATIENCE_S,
        stays_s: float = STAYS_S,
    ) -> None:
        self._trainer = trainer
        self._scratch = scratch
        self._patience_s = patience_s
        self._stays_s = stays_s
        self._turn = asyncio.Lock()
        self._painter: Painter | None = None
        self._leaving: asyncio.Task[None] | None = None

    async def draw(self, wish: PictureWish) -> DrawnPicture:
        """The picture, when those asked for before are drawn. Raises `UserError`.

        A caller that leaves ends the process: whatever it hangs in, the next one's turn comes.
        """
        async with self._turn:
            self._stay()
            given_up = threading.Event()
            drawing = asyncio.ensure_future(in_long_thread(self._draw, wish, given_up))
            try:
                return await asyncio.shield(drawing)
            except asyncio.CancelledError:
                given_up.set()
                if self._painter is not None:
                    self._painter.kill()
                await asyncio.wait({drawing})
                drawing.exception()  # nobody is there to be told
                raise
            finally:
                self._leave_later()

    def _draw(self, wish: PictureWish, given_up: threading.Event) -> DrawnPicture:
        """On a thread that lasts: the process dies with the thread that started it."""
        painter = self._painter_for(wish)
        if given_up.is_set():
            painter.kill()
        try:
            return painter.draw(wish.env_id, wish.env_kwargs, wish.seed)
        finally:
            if not painter.is_usable:
                self._close()

    def _painter_for(self, wish: PictureWish) -> Painter:
        trainer = self._trainer
        runtime = runtime_for(trainer.bundles, wish.env_id, wish.python_path)
        if self._painter is not None and self._painter.runtime != runtime:
            self._close()
        if self._painter is None:
            self._painter = Painter(
                runtime,
                self._scratch,
                trainer.secrets.without_secrets(os.environ),
                patience_s=self._patience_s,
            )
        return self._painter

    def _close(self) -> None:
        painter, self._painter = self._painter, None
        if painter is not None:
            painter.close()

    def _stay(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    def _leave_later(self) -> None:
        if self._painter is not None:
            self._leaving = asyncio.create_task(self._leave())

    async def _leave(self) -> None:
        await asyncio.sleep(self._stays_s)
        async with self._turn:
            self._leaving = None  # from here on it is too late to stay
            await in_long_thread(self._close)
