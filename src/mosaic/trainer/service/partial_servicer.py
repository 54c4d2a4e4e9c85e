"""What the parts of the service have in common: the trainer that they speak for."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeAlias, TypeVar

import grpc

from mosaic.contract.layout import RunDirectory
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.service.request_checks import checked_run_id
from mosaic.trainer.trainer import Trainer

Result = TypeVar("Result")

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class ServicePart:
    """One topic of the service. `TrainerServicer` is all of them together."""

    _trainer: Trainer


async def carried_out(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which goes on to its end when the client leaves in the middle of it.

    A run is never left half paused or half deleted by somebody's time-out.
    """
    return await asyncio.shield(asyncio.ensure_future(work))


async def existing_run(trainer: Trainer, run_id: str) -> RunDirectory:
    """The directory of a run that is in the registry."""
    run = trainer.home.run(checked_run_id(run_id))
    await in_thread(trainer.registry.get, run_id)
    return run
