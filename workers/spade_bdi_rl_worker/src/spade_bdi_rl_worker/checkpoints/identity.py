"""What makes the states of an environment what they are, and whether a saved table is of them.

A table learnt on dry ice may well be played, or learnt on, on slippery ice: the states are the
same. On another map they are not, although there may be as many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.frozen_lake_maps import map_rows
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from spade_bdi_rl_worker.checkpoints.table_file import TableCheckpoint
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding


def identity_of(env: Any, encoding: StateEncoding) -> dict[str, Any]:
    """In plain values, for a checkpoint."""
    unwrapped = env.unwrapped
    kind = type(unwrapped)
    described: dict[str, Any] = {
        "class": f"{kind.__module__}:{kind.__qualname__}",
        "encoding": encoding.kind,
        "observation_space": describe_space(env.observation_space),
        "action_space": describe_space(env.action_space),
    }
    drawn = getattr(unwrapped, "desc", None)
    if drawn is not None:
        described["map"] = map_rows(drawn)
    return described


def check_fits(checkpoint: TableCheckpoint, env: Any, encoding: StateEncoding) -> None:
    """WorkerError says in what the table is of another environment, and what to do."""
    there, here = checkpoint.environment, identity_of(env, encoding)
    remedy = f"Use it in {_words(checkpoint)}, or choose a checkpoint of this environment."
    if there.get("class") != here["class"] or there.get("encoding") != here["encoding"]:
        raise WorkerError(
            f"The table was learnt in {checkpoint.env_id}, and this is {_name(env)}.",
            remedy=remedy,
        )
    if there.get("map") != here.get("map"):
        raise WorkerError(
            f"The table was learnt on another map: {_drawn(there.get('map'))};"
            f" this one is {_drawn(here.get('map'))}.",
            remedy=remedy,
        )
    for space in ("observation_space", "action_space"):
        if there.get(space) != here[space]:
            words = space.replace("_", " ")
            raise WorkerError(
                f"The table was learnt in {checkpoint.env_id} with another {words}.", remedy=remedy
            )


def _name(env: Any) -> str:
    spec = getattr(env.unwrapped, "spec", None)
    return str(spec.id) if spec is not None else type(env.unwrapped).__name__


def _words(checkpoint: TableCheckpoint) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in checkpoint.env_kwargs.items())
    return f"{checkpoint.env_id} ({settings})" if settings else checkpoint.env_id


def _drawn(rows: Any) -> str:
    return "/".join(rows) if rows else "none"
