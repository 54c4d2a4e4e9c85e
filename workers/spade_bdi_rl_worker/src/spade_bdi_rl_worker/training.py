"""The worker's `train` mode: a learner for the run, and the BDI agent that decides what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.settings import agent_settings, resolved

if TYPE_CHECKING:
    from mosaic_worker import Run


def train(run: Run) -> None:
    """Raises `WorkerError` for what a person can change."""
    run.config = resolved(run.config, is_warm=run.checkpoint is not None)
    announce(run)
    try:
        from spade_bdi_rl_worker.agent import run as run_agent  # noqa: PLC0415 - imports spade
        from spade_bdi_rl_worker.learning.making import make_learner  # noqa: PLC0415 - and numpy
        from spade_bdi_rl_worker.telemetry.run_outlet import RunOutlet  # noqa: PLC0415
    except ImportError as error:
        raise WorkerError(
            f"A package that the worker needs is not installed: {error}.",
            remedy="Install the worker's bundle: `mosaic bundles install spade_bdi_rl_worker`.",
        ) from None
    settings = agent_settings(run.config)
    outlet = RunOutlet(run)
    try:
        learner = make_learner(run, outlet)
        try:
            run_agent(learner, settings, outlet, run)
            if learner.progress.steps:
                learner.save("at the end")
        finally:
            learner.close()
    finally:
        outlet.close()


def announce(run: Run) -> None:
    """The `config` line again, with what suits the environment where nobody chose."""
    from mosaic_worker.cli import installed_packages  # noqa: PLC0415 - only a run needs it

    config = run.config
    run.emitter.config(
        run.id,
        config.algo,
        config.env_id,
        config.seed,
        config.arguments(),
        env_kwargs=config.env_kwargs,
        packages=installed_packages(),
    )
