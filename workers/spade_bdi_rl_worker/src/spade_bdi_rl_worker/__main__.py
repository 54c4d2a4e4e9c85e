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

    Raises `WorkerError` when the plans or the server that the agent needs are not there.
    """
    from spade_bdi_rl_worker.agent import check  # noqa: PLC0415 - --describe needs none
    from spade_bdi_rl_worker.settings import agent_settings, resolved  # noqa: PLC0415

    settled = resolved(config)
    if settled.mode == "train":
        check(agent_settings(settled))
    return {"arguments": settled.arguments()}


if __name__ == "__main__":
    sys.exit(main(describe(), work, plan=plan))
