"""From a run's configuration to its sweep: everything that has to be there before it begins."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

import optuna

from mosaic.client.sweeps.study import read_study
from mosaic.client.sweeps.sweep_plan import read_sweep_plan
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic_worker import WorkerError
from sweep_worker.best import BestConfiguration
from sweep_worker.daemon_link import DaemonLink
from sweep_worker.objective import looks_of
from sweep_worker.pruners import make_pruner
from sweep_worker.samplers import grid_size, make_sampler
from sweep_worker.study_file import copy_study, open_study, try_unfinished_again
from sweep_worker.sweep import Sweep

if TYPE_CHECKING:
    from mosaic_worker import Run

RESUMED = "W222"
"""The sweep goes on from an earlier one."""


def sweep(run: Run) -> None:
    """The whole sweep."""
    optuna.logging.set_verbosity(logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    try:
        _sweep(run)
    except UserError as error:
        raise WorkerError(error.message, remedy=error.remedy) from error


def _sweep(run: Run) -> None:
    params = run.config.params
    plan = read_sweep_plan(run.config.raw)
    looks = looks_of(params, plan.base.get("total_timesteps"))
    pruner = make_pruner(params, looks.first, looks.total)
    total = params["trials"]
    if params["sampler"] == "grid":
        total = min(total, grid_size(plan.space, params["grid_points"]))
    link = DaemonLink(run)
    path = RunDirectory(run.directory).study
    try:
        # With the same seed the sampler would begin with what was tried already.
        tried = _take_over(run, link) if params["resume_from"] else 0
        sampler = make_sampler(params, plan.space, run.config.seed + tried)
        name = run.config.raw.get("run_name") or f"{plan.base['worker']} {run.config.env_id}"
        study = open_study(path, name, params["direction"], sampler, pruner)
        run.emitter.artifact("optuna", path.name)
        if params["resume_from"]:
            again = try_unfinished_again(study)
            run.emitter.log(
                "info",
                RESUMED,
                f"The sweep goes on from {params['resume_from']} with its {tried} trials,"
                f" {again} of which are tried again.",
            )
        best = BestConfiguration(run, plan, link.home)
        Sweep(run, plan, looks, study, link, best, total).run_all()
    finally:
        link.close()


def _take_over(run: Run, link: DaemonLink) -> int:
    """Copies the study of the earlier sweep; how many trials it has."""
    earlier = run.config.params["resume_from"]
    record = link.record(earlier)
    if not record.state.is_final:
        raise WorkerError(
            f"The sweep {earlier} is still {record.state}.",
            remedy="Let it go on, or stop it first.",
        )
    for orphan in link.children(earlier):  # of a sweep that was killed
        link.cancel(orphan, f"Its sweep has ended; {run.id} goes on in its place.")
    own = RunDirectory(run.directory).study
    copy_study(link.home.run(earlier).study, own)
    return len(read_study(own).trials)
