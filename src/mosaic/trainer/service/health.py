"""Calls on the daemon itself: how it is, and its end."""

import os
from collections.abc import Callable
from pathlib import Path

import mosaic
from mosaic.contract.readiness import DaemonHealth
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.contract.run_states import LIVE_STATES
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.service.service_part import Context, ServicePart

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class HealthCalls(ServicePart):
    """The standard health service, for programs, is beside this in `server.py`."""

    _address: str
    _shut_down: Callable[[], None]

    async def GetHealth(self, _: pb.GetHealthRequest, _context: Context) -> pb.DaemonHealth:
        cpus_free = self._trainer.dispatcher.cpus_free()
        health = await in_thread(self._health, cpus_free)
        return to_message(health, pb.DaemonHealth)

    async def Shutdown(self, _: pb.ShutdownRequest, _context: Context) -> pb.ShutdownResponse:
        live = await in_thread(self._trainer.registry.in_states, LIVE_STATES)
        self._shut_down()
        return pb.ShutdownResponse(runs_left_running=len(live))

    def _health(self, cpus_free: int) -> DaemonHealth:
        trainer = self._trainer
        return DaemonHealth(
            version=mosaic.__version__,
            pid=os.getpid(),
            started_at=trainer.started_at,
            home=str(trainer.home.path),
            address=self._address,
            runs_by_state=trainer.registry.counts_by_state(),
            disk_free_bytes=trainer.machine.disk_free_bytes(trainer.home.path),
            rss_bytes=_rss_bytes(),
            cpus=trainer.settings.cpus,
            cpus_free=cpus_free,
            memory_mb=trainer.settings.memory_mb or trainer.machine.memory_mb(),
            gpus=tuple(gpu.name for gpu in trainer.machine.gpus()),
            max_runs=trainer.settings.max_runs,
            problems=(*trainer.problems, *trainer.secrets.problems()),
            last_event_seq=trainer.registry.last_event_seq(),
        )


def _rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES
