"""Where the sources of the worker SDK are, which every worker's code is given."""

from importlib.util import find_spec
from pathlib import Path

import mosaic
from mosaic.contract.errors import UserError
from mosaic.trainer.workers.found_worker import SourceTree

_PACKAGE = "mosaic_worker"
_IN_CHECKOUT = Path(mosaic.__file__).parents[2] / "worker_sdk" / "src" / _PACKAGE


def sdk_sources() -> SourceTree:
    """The SDK of the checkout, else the installed one; found without importing it."""
    if (_IN_CHECKOUT / "__init__.py").is_file():
        return SourceTree(_PACKAGE, _IN_CHECKOUT)
    spec = find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise UserError(
            "The worker SDK is not here: workers cannot be started without it.",
            remedy="Install the distribution `mosaic-worker` beside MOSAIC.",
            code="T132",
        )
    return SourceTree(_PACKAGE, Path(next(iter(folders))))
