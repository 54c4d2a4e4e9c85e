"""Operations on many runs: an error of one does not stop the others."""

from gym_gui.runtime.run_operations import apply_to_runs
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError


def test_errors_are_collected_until_the_daemon_is_unreachable() -> None:
    """Without a daemon the remaining runs are not tried."""
    done: list[str] = []

    def op(run_id: str) -> None:
        if run_id == "b":
            raise UserError("There is no run 'b'.", remedy="")
        if run_id == "d":
            raise DaemonUnreachableError("No daemon answers.", remedy="")
        done.append(run_id)

    rejected = apply_to_runs(["a", "b", "c", "d", "e"], op)
    assert done == ["a", "c"]
    assert list(rejected) == ["b", "d", "e"]
    assert isinstance(rejected["e"], DaemonUnreachableError)
