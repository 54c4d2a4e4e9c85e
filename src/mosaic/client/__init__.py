"""Python client of the trainer daemon: `from mosaic.client import TrainerClient`.

`TrainerClient` is imported on first access, so that the errors can be imported without gRPC.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

__all__ = ["TrainerClient"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("mosaic.client.trainer_client"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
