"""What is done to many runs at once: one that refuses keeps the others from nothing."""

from gym_gui.runtime.many_runs import do_to_each
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError


def test_one_refuses_and_the_daemon_goes() -> None:
    """All others are done; without a daemon the rest is not even tried."""
    done: list[str] = []

    def op(run_id: str) -> None:
        if run_id == "b":
            raise UserError("There is no run 'b'.", remedy="")
        if run_id == "d":
            raise DaemonUnreachableError("No daemon answers.", remedy="")
        done.append(run_id)

    rejected = do_to_each(["a", "b", "c", "d", "e"], op)
    assert done == ["a", "c"]
    assert list(rejected) == ["b", "d", "e"]
    assert isinstance(rejected["e"], DaemonUnreachableError)
