"""Pillow and PyAV, imported when a picture is first written: they take a moment to load."""

import importlib
from typing import Any

from mosaic.contract.errors import UserError


def pillow(module: str = "Image") -> Any:
    """A module of Pillow, such as `ImageFont`."""
    return _load(f"PIL.{module}", "Pillow", "pillow")


def pyav() -> Any:
    """PyAV."""
    return _load("av", "PyAV", "av")


def _load(module: str, title: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UserError(
            f"{title} is needed for MP4 and GIF, and cannot be loaded: {error}.",
            remedy=f"Install it with `python -m pip install {package}`, in the environment that"
            " `mosaic` runs in; JSONL works without it.",
            code="C176",
        ) from error
