"""Which sweep is meant by what was typed."""

from typing import TYPE_CHECKING

from mosaic.client.run_reference import LAST
from mosaic.client.sweeps.sweep_plan import SWEEP_WORKER
from mosaic.contract.runs import RunQuery

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


def find_sweep(client: "TrainerClient", reference: str) -> str:
    """The run id; `last` is the newest sweep, whatever else has run since."""
    if reference == LAST:
        query = RunQuery(worker=SWEEP_WORKER, include_archived=True, page_size=1)
        newest = client.runs_page(query).runs
        if newest:
            return newest[0].run_id
    return client.resolve(reference)
