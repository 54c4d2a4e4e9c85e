"""Begins a training with a table that was learnt before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.checkpoints.identity import check_fits
from spade_bdi_rl_worker.checkpoints.table_file import read_table_file
from spade_bdi_rl_worker.learning.state_encoding import HashedStates

if TYPE_CHECKING:
    from pathlib import Path

    from spade_bdi_rl_worker.checkpoints.table_file import TableCheckpoint
    from spade_bdi_rl_worker.learning.methods import Method
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding


def warm_start(path: Path, env: Any, encoding: StateEncoding, method: Method) -> TableCheckpoint:
    """Take over the values of the file; those of another method become all tables of this one.

    WorkerError when they are of another environment.
    """
    checkpoint = read_table_file(path)
    check_fits(checkpoint, env, encoding)
    if isinstance(encoding, HashedStates):
        encoding.know(checkpoint.names or [])
    tables = checkpoint.tables
    if len(tables) != len(method.tables):
        tables = [tables[0]] * len(method.tables)
    method.grow(len(tables[0]))
    method.put_tables(tables)
    return checkpoint
