"""Packages that bring environments and have to be imported before gymnasium knows them."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, NamedTuple

from mosaic_worker.errors import WorkerError


class _Provider(NamedTuple):
    module: str
    prefixes: tuple[str, ...]
    install: str


_PROVIDERS = (
    _Provider("ale_py", ("ALE/",), "ale-py"),
    _Provider("minigrid", ("MiniGrid-", "BabyAI-"), "minigrid"),
)
PROVIDER_MODULES = frozenset(provider.module for provider in _PROVIDERS)


def register(env_id: str) -> None:
    """Import what brings `env_id`; WorkerError when its package is not there."""
    import gymnasium  # noqa: PLC0415 - optional, and start-up counts

    module, colon, name = env_id.rpartition(":")
    if colon:
        _import_module(module, env_id)
    if name in gymnasium.registry:
        return
    for provider in _PROVIDERS:
        if name.startswith(provider.prefixes):
            _import_provider(provider, env_id)
            return
    for provider in _PROVIDERS:  # they have ids without a prefix too, such as PongNoFrameskip-v4
        with contextlib.suppress(ImportError):
            _register(importlib.import_module(provider.module))


def _import_module(module: str, env_id: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise WorkerError(
            f"The module of {env_id} cannot be imported: {error}.",
            remedy=f"Install the package that has {module}, or correct the name before the colon.",
        ) from error


def _import_provider(provider: _Provider, env_id: str) -> None:
    try:
        _register(importlib.import_module(provider.module))
    except ImportError as error:
        raise WorkerError(
            f"{env_id} needs the package {provider.install}: {error}.",
            remedy=f"Install {provider.install} in the worker's environment.",
        ) from error


def _register(module: Any) -> None:
    import gymnasium  # noqa: PLC0415 - optional, and start-up counts

    announce = getattr(gymnasium, "register_envs", None)  # from 1.0 on; before, they were found
    if announce is not None:
        announce(module)
