"""TrainerServicer: all calls of `proto/trainer.proto`, composed of one class per topic."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import mosaic
from mosaic.contract.readiness import DaemonHealth
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceServicer
from mosaic.contract.run_states import LIVE_STATES
from mosaic.telemetry.episode_pages import EpisodePages
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.daemon_settings import SettingsFile
from mosaic.trainer.service.frames import FrameServicer, ThumbnailServicer
from mosaic.trainer.service.logs import LogServicer
from mosaic.trainer.service.partial_servicer import Context, PartialServicer
from mosaic.trainer.service.queries import EpisodeQueryServicer, QueryServicer
from mosaic.trainer.service.resimulation import ResimulationServicer, SimulationSlots
from mosaic.trainer.service.runs import MAX_IMPORTS, ArchiveServicer, RunServicer
from mosaic.trainer.service.settings import SettingsServicer
from mosaic.trainer.service.storage import MAX_VERIFICATIONS, StorageServicer
from mosaic.trainer.service.streams import StreamServicer
from mosaic.trainer.service.watching import WatchServicer
from mosaic.trainer.service.workers import WorkerServicer
from mosaic.trainer.simulation.helper_process import ScratchFolders
from mosaic.trainer.thumbnails.thumbnail_service import ThumbnailService
from mosaic.trainer.trainer import Trainer

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class HealthServicer(PartialServicer):
    """Calls on the daemon itself. `server.py` adds the standard gRPC health service."""

    _address: str
    _shut_down: Callable[[], None]

    async def GetHealth(self, _: pb.GetHealthRequest, _context: Context) -> pb.DaemonHealth:
        cpus_free = self._trainer.dispatcher.cpus_free()
        health = await run_in_thread(self._health, cpus_free)
        return to_message(health, pb.DaemonHealth)

    async def Shutdown(self, _: pb.ShutdownRequest, _context: Context) -> pb.ShutdownResponse:
        live = await run_in_thread(self._trainer.registry.in_states, LIVE_STATES)
        self._shut_down()
        return pb.ShutdownResponse(runs_left_running=len(live))

    def _health(self, cpus_free: int) -> DaemonHealth:
        trainer = self._trainer
        disk_free_bytes = trainer.machine.disk_free_bytes(trainer.home.path)
        return DaemonHealth(
            version=mosaic.__version__,
            pid=os.getpid(),
            started_at=trainer.started_at,
            home=str(trainer.home.path),
            address=self._address,
            runs_by_state=trainer.registry.counts_by_state(),
            disk_free_bytes=disk_free_bytes,
            rss_bytes=_rss_bytes(),
            cpus=trainer.settings.cpus,
            cpus_free=cpus_free,
            memory_mb=trainer.settings.memory_mb or trainer.machine.memory_mb(),
            gpus=tuple(gpu.name for gpu in trainer.machine.gpus()),
            max_runs=trainer.settings.max_runs,
            problems=(
                *_disk_problems(disk_free_bytes, trainer.settings.min_free_disk_mb),
                *trainer.problems,
                *trainer.secrets.problems(),
            ),
            last_event_seq=trainer.registry.last_event_seq(),
        )


def _disk_problems(free_bytes: int, min_free_mb: int) -> tuple[str, ...]:
    """One text if the disk is full, or too full to start runs."""
    free_mb = free_bytes >> 20
    if free_mb >= max(min_free_mb, 1):
        return ()
    problem = (
        f"The disk of the home has {free_mb:,} MB free: no run starts below {min_free_mb:,} MB,"
        " and running ones may not be able to store their telemetry."
        " Free some space, such as with `mosaic runs delete`."
    )
    return (problem,)


def _rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


class TrainerServicer(
    RunServicer,
    WatchServicer,
    ArchiveServicer,
    StreamServicer,
    LogServicer,
    FrameServicer,
    QueryServicer,
    EpisodeQueryServicer,
    ResimulationServicer,
    ThumbnailServicer,
    WorkerServicer,
    StorageServicer,
    SettingsServicer,
    HealthServicer,
    TrainerServiceServicer,
):
    """Serves one trainer. `shut_down` requests the end of the process and returns at once."""

    def __init__(
        self,
        trainer: Trainer,
        *,
        address: str = "",
        shut_down: Callable[[], None] = lambda: None,
    ) -> None:
        self._trainer = trainer
        self._address = address
        self._shut_down = shut_down
        self._installations = {}
        self._episode_pages = EpisodePages()
        self._import_slots = asyncio.Semaphore(MAX_IMPORTS)
        self._simulations = SimulationSlots()
        self._scratch = ScratchFolders(trainer.home)
        self._thumbnails = ThumbnailService(trainer, self._scratch)
        self._settings_file = SettingsFile(trainer.home.settings)
        self._settings_lock = asyncio.Lock()
        self._verification_slots = asyncio.Semaphore(MAX_VERIFICATIONS)
