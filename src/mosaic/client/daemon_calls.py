"""Calls about the daemon itself."""

from mosaic.client.call_group import CallGroup
from mosaic.contract.readiness import DaemonHealth
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message


class DaemonCalls(CallGroup):
    """How it is, and telling it to go."""

    def health(self, *, timeout_s: float = 10.0) -> DaemonHealth:
        """Version, address, runs by state, what is free on the machine, and what is wrong.

        Asked once: this is how to find out whether a daemon answers.
        """
        answer = self._connection.call(
            lambda stub: stub.GetHealth, pb.GetHealthRequest(), timeout_s=timeout_s, patience_s=0.0
        )
        return from_message(answer, DaemonHealth)

    def shutdown(self) -> int:
        """Tell the daemon to end. Runs go on, and a later daemon takes them over: how many."""
        answer = self._connection.call(
            lambda stub: stub.Shutdown, pb.ShutdownRequest(), patience_s=0.0
        )
        return answer.runs_left_running
