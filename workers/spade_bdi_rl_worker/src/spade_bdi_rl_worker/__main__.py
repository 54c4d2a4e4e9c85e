"""`python -m spade_bdi_rl_worker --config FILE`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mosaic_worker import main
from spade_bdi_rl_worker.descriptor import describe

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig


def work(run: Run) -> None:
    """Spade and numpy are imported only by what needs them."""
    if run.config.mode == "train":
        from spade_bdi_rl_worker.training import train  # noqa: PLC0415

        train(run)
    else:
        from spade_bdi_rl_worker.playing.table_player import play_table  # noqa: PLC0415

        play_table(run)


def plan(config: RunConfig) -> dict[str, Any]:
    """What a dry run adds: the values that suit the environment.

    Raises `WorkerError` for what would end the run at its start.
    """
    from spade_bdi_rl_worker.rehearsal import rehearse  # noqa: PLC0415 - --describe needs none

    return {"arguments": rehearse(config).arguments()}


if __name__ == "__main__":
    sys.exit(main(describe(), work, plan=plan))
