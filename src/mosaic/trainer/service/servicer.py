"""TrainerServicer: every call of `proto/trainer.proto`, put together from its topics."""

import asyncio
from collections.abc import Callable

from mosaic.contract.rpc.trainer_pb2_grpc import TrainerServiceServicer
from mosaic.telemetry.episode_pages import EpisodePages
from mosaic.trainer.pictures.studio import Studio
from mosaic.trainer.service.archives import IMPORTS_AT_ONCE, ArchiveCalls
from mosaic.trainer.service.episode_queries import EpisodeQueryCalls
from mosaic.trainer.service.frames import FrameCalls
from mosaic.trainer.service.health import HealthCalls
from mosaic.trainer.service.logs import LogCalls
from mosaic.trainer.service.pictures import PictureCalls
from mosaic.trainer.service.queries import QueryCalls
from mosaic.trainer.service.resimulation import ResimulationCalls, SimulationPlaces
from mosaic.trainer.service.runs import RunCalls
from mosaic.trainer.service.settings import SettingsCalls
from mosaic.trainer.service.storage import VERIFICATIONS_AT_ONCE, StorageCalls
from mosaic.trainer.service.streams import StreamCalls
from mosaic.trainer.service.watching import WatchCalls
from mosaic.trainer.service.workers_and_bundles import WorkerCalls
from mosaic.trainer.settings_file import SettingsFile
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
    EpisodeQueryCalls,
    ResimulationCalls,
    PictureCalls,
    WorkerCalls,
    StorageCalls,
    SettingsCalls,
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
        self._episode_pages = EpisodePages()
        self._import_slots = asyncio.Semaphore(IMPORTS_AT_ONCE)
        self._simulations = SimulationPlaces()
        self._scratch = ScratchFolders(trainer.home)
        self._studio = Studio(trainer, self._scratch)
        self._settings_file = SettingsFile(trainer.home.settings)
        self._settings_turn = asyncio.Lock()
        self._verification_slots = asyncio.Semaphore(VERIFICATIONS_AT_ONCE)
