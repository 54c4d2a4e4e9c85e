"""The same done to many runs, one after the other, in one task. `RunActions` calls this."""

from collections.abc import Callable, Collection

from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError


def do_to_each(run_ids: Collection[str], op: Callable[[str], object]) -> dict[str, UserError]:
    """Blocking. Those with which it could not be done, and why.

    When no daemon answers the rest is not tried: each would wait for it.
    """
    rejected: dict[str, UserError] = {}
    for run_id in run_ids:
        try:
            op(run_id)
        except DaemonUnreachableError as error:
            waiting = list(run_ids)
            return rejected | dict.fromkeys(waiting[waiting.index(run_id) :], error)
        except UserError as error:
            rejected[run_id] = error
    return rejected
