"""Compatibility of a saved table with an environment, and starting training from a saved table.

A table trained on a non-slippery map can be played or trained further on the same map with
slippery ice: the states are the same. On another map they differ, even if their number is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.frozen_lake_maps import map_rows
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.checkpoints.table_file import read_table_file
from spade_bdi_rl_worker.learning.state_encoding import HashedStates

if TYPE_CHECKING:
    from pathlib import Path

    from spade_bdi_rl_worker.checkpoints.table_file import TableCheckpoint
    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding


def describe_environment(env: Any, encoding: StateEncoding) -> dict[str, Any]:
    """Return the properties that define the environment's states, as JSON values."""
    unwrapped = env.unwrapped
    env_class = type(unwrapped)
    description: dict[str, Any] = {
        "class": f"{env_class.__module__}:{env_class.__qualname__}",
        "encoding": encoding.kind,
        "observation_space": describe_space(env.observation_space),
        "action_space": describe_space(env.action_space),
    }
    grid = getattr(unwrapped, "desc", None)
    if grid is not None:
        description["map"] = map_rows(grid)
    return description


def check_compatible(checkpoint: TableCheckpoint, env: Any, encoding: StateEncoding) -> None:
    """Raise `WorkerError` if the table belongs to another environment."""
    saved, current = checkpoint.environment, describe_environment(env, encoding)
    remedy = (
        f"Use it in {_describe_origin(checkpoint)}, or choose a checkpoint of this environment."
    )
    if saved.get("class") != current["class"] or saved.get("encoding") != current["encoding"]:
        raise WorkerError(
            f"The table was trained in {checkpoint.env_id}, and this environment is {_name(env)}.",
            remedy=remedy,
        )
    if saved.get("map") != current.get("map"):
        raise WorkerError(
            f"The table was trained on another map: {_format_map(saved.get('map'))};"
            f" this one is {_format_map(current.get('map'))}.",
            remedy=remedy,
        )
    for space in ("observation_space", "action_space"):
        if saved.get(space) != current[space]:
            label = space.replace("_", " ")
            raise WorkerError(
                f"The table was trained in {checkpoint.env_id} with another {label}.",
                remedy=remedy,
            )


def warm_start(path: Path, env: Any, encoding: StateEncoding, method: Method) -> TableCheckpoint:
    """Load the values of a checkpoint; a table of another method is copied to all tables.

    Raises `WorkerError` if it belongs to another environment.
    """
    checkpoint = read_table_file(path)
    check_compatible(checkpoint, env, encoding)
    if isinstance(encoding, HashedStates):
        encoding.load_names(checkpoint.names or [])
    tables = checkpoint.tables
    if len(tables) != len(method.tables):
        tables = [tables[0]] * len(method.tables)
    method.grow(len(tables[0]))
    method.load_tables(tables)
    return checkpoint


def _name(env: Any) -> str:
    spec = getattr(env.unwrapped, "spec", None)
    return str(spec.id) if spec is not None else type(env.unwrapped).__name__


def _describe_origin(checkpoint: TableCheckpoint) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in checkpoint.env_kwargs.items())
    return f"{checkpoint.env_id} ({settings})" if settings else checkpoint.env_id


def _format_map(rows: Any) -> str:
    return "/".join(rows) if rows else "none"
