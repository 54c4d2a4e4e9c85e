"""The base class of the servicers, one per topic of the service."""

from typing import Any, TypeAlias

import grpc

from mosaic.contract.layout import RunDirectory
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.service.request_checks import checked_run_id
from mosaic.trainer.trainer import Trainer

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class PartialServicer:
    """One topic of the service. `TrainerServicer` combines all of them."""

    _trainer: Trainer


async def existing_run(trainer: Trainer, run_id: str) -> RunDirectory:
    """The directory of the run. Raises `UserError` unless it is in the registry."""
    run = trainer.home.run(checked_run_id(run_id))
    await run_in_thread(trainer.registry.get, run_id)
    return run
