"""TrainerServicer: every call of `proto/trainer.proto`, put together from its topics."""

import asyncio
from collections.abc import Callable

from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceServicer
from mosaic.trainer.service.archives import IMPORTS_AT_ONCE, ArchiveCalls
from mosaic.trainer.service.frames import FrameCalls
from mosaic.trainer.service.health import HealthCalls
from mosaic.trainer.service.logs import LogCalls
from mosaic.trainer.service.queries import QueryCalls
from mosaic.trainer.service.resimulation import ResimulationCalls, SimulationPlaces
from mosaic.trainer.service.runs import RunCalls
from mosaic.trainer.service.storage import VERIFICATIONS_AT_ONCE, StorageCalls
from mosaic.trainer.service.streams import StreamCalls
from mosaic.trainer.service.watching import WatchCalls
from mosaic.trainer.service.workers_and_bundles import WorkerCalls
from mosaic.trainer.simulation.scratch_folders import ScratchFolders
from mosaic.trainer.trainer import Trainer


class TrainerServicer(
    RunCalls,
    WatchCalls,
    ArchiveCalls,
    StreamCalls,
    LogCalls,
    FrameCalls,
    QueryCalls,
    ResimulationCalls,
    WorkerCalls,
    StorageCalls,
    HealthCalls,
    TrainerServiceServicer,
):
    """Speaks for one trainer. `shut_down` asks the process to end, and returns at once."""

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
        self._import_slots = asyncio.Semaphore(IMPORTS_AT_ONCE)
        self._simulations = SimulationPlaces()
        self._scratch = ScratchFolders(trainer.home)
        self._verification_slots = asyncio.Semaphore(VERIFICATIONS_AT_ONCE)
