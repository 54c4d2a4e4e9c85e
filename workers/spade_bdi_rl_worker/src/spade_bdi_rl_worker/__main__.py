"""Entry point: `python -m spade_bdi_rl_worker --config FILE`.

SPADE, numpy and gymnasium are imported inside functions, so that `--describe` stays fast.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mosaic_worker import WorkerError, main
from spade_bdi_rl_worker.descriptor import describe

if TYPE_CHECKING:
    from mosaic_worker import Run, RunConfig


def work(run: Run) -> None:
    """Run the mode of the configuration: train, play or evaluate."""
    if run.config.mode == "train":
        train(run)
    else:
        from spade_bdi_rl_worker.table_actor import play_table  # noqa: PLC0415

        play_table(run)


def plan(config: RunConfig) -> dict[str, Any]:
    """Return the resolved arguments for a dry run, without training.

    Raises `WorkerError` for anything that would make the run fail at its start.
    """
    from spade_bdi_rl_worker.dry_run import check_run  # noqa: PLC0415

    return {"arguments": check_run(config).arguments()}


def train(run: Run) -> None:
    """Train until the agents finish or the run is stopped.

    Raises `WorkerError` for problems that the user can fix.
    """
    from spade_bdi_rl_worker.settings import agent_settings, apply_presets  # noqa: PLC0415

    run.config = apply_presets(run.config, is_warm_start=run.checkpoint is not None)
    emit_config(run)
    try:
        from spade_bdi_rl_worker.agent import run_agents  # noqa: PLC0415
        from spade_bdi_rl_worker.learning.learner_factory import make_learner  # noqa: PLC0415
        from spade_bdi_rl_worker.telemetry.sink import RunTelemetrySink  # noqa: PLC0415
    except ImportError as error:
        raise WorkerError(
            f"A package that the worker needs is not installed: {error}.",
            remedy="Install the worker's bundle: `mosaic bundles install spade_bdi_rl_worker`.",
        ) from None
    settings = agent_settings(run.config)
    sink = RunTelemetrySink(run)
    try:
        learner = make_learner(run, sink)
        try:
            run_agents(learner, settings, sink, run)
            if learner.progress.steps:
                learner.save("at the end")
        finally:
            learner.close()
    finally:
        sink.close()


def emit_config(run: Run) -> None:
    """Emit the `config` event again, with the presets that fill unset parameters."""
    from mosaic_worker.cli import installed_packages  # noqa: PLC0415

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


if __name__ == "__main__":
    sys.exit(main(describe(), work, plan=plan))
