"""Talking to the trainer daemon from Python: `from mosaic.client import TrainerClient`.

Nothing is imported before it is asked for, so that the errors can be named without loading gRPC.
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
