"""Imports Pillow and PyAV on first use: they load slowly and may be missing.

A separate module because the writers, the overlay and the window share it.
"""

import importlib
from typing import Any

from mosaic.contract.errors import UserError


def pillow(module: str = "Image") -> Any:
    """Return a module of Pillow, such as `ImageFont`."""
    return _load(f"PIL.{module}", "Pillow", "pillow")


def pyav() -> Any:
    """Return PyAV."""
    return _load("av", "PyAV", "av")


def _load(module: str, title: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UserError(
            f"{title} is required for MP4 and GIF but cannot be imported: {error}.",
            remedy=f"Install it with `python -m pip install {package}`, in the environment of"
            " `mosaic`; JSONL works without it.",
            code="C176",
        ) from error
