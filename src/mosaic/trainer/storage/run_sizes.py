"""What runs take that ended before anybody looked, such as those of an earlier version of MOSAIC.

Called by the daemon once, on a thread, when it has started; from then on the watch of each run
keeps its size.
"""

from mosaic.contract.layout import Home
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.usage import size_of_run

_AT_ONCE = 100


def measure_unknown_runs(home: Home, registry: RunRegistry) -> None:
    """The newest first: those are at the top of every list. Blocking."""
    unknown = registry.of_unknown_size()
    for start in range(0, len(unknown), _AT_ONCE):
        some = unknown[start : start + _AT_ONCE]
        registry.set_disk_bytes({run_id: size_of_run(home.run(run_id)) for run_id in some})
