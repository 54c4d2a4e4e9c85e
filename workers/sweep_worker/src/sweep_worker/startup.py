"""sweep: creates study, sampler, pruner and link from the configuration, and runs the sweep."""

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
from sweep_worker.objective import make_report_schedule
from sweep_worker.search_algorithms import grid_size, make_pruner, make_sampler
from sweep_worker.study_file import copy_study, enqueue_unfinished, open_study
from sweep_worker.sweep import Sweep

if TYPE_CHECKING:
    from mosaic_worker import Run

RESUMED = "W222"
"""The sweep resumes an earlier one."""


def sweep(run: Run) -> None:
    """Run the sweep."""
    optuna.logging.set_verbosity(logging.WARNING)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    try:
        _run_sweep(run)
    except UserError as error:
        raise WorkerError(error.message, remedy=error.remedy) from error


def _run_sweep(run: Run) -> None:
    params = run.config.params
    plan = read_sweep_plan(run.config.raw)
    schedule = make_report_schedule(params, plan.base.get("total_timesteps"))
    pruner = make_pruner(params, schedule.first, schedule.total)
    total = params["trials"]
    if params["sampler"] == "grid":
        total = min(total, grid_size(plan.space, params["grid_points"]))
    link = DaemonLink(run)
    path = RunDirectory(run.directory).study
    try:
        # With the same seed the sampler would repeat the earlier values.
        earlier_trials = _copy_earlier_study(run, link) if params["resume_from"] else 0
        sampler = make_sampler(params, plan.space, run.config.seed + earlier_trials)
        name = run.config.raw.get("run_name") or f"{plan.base['worker']} {run.config.env_id}"
        study = open_study(path, name, params["direction"], sampler, pruner)
        run.emitter.artifact("optuna", path.name)
        if params["resume_from"]:
            repeated = enqueue_unfinished(study)
            run.emitter.log(
                "info",
                RESUMED,
                f"Resumed from {params['resume_from']} with {earlier_trials} trials,"
                f" {repeated} of which are repeated.",
            )
        best = BestConfiguration(run, plan, link.home)
        Sweep(run, plan, schedule, study, link, best, total).run_all()
    finally:
        link.close()


def _copy_earlier_study(run: Run, link: DaemonLink) -> int:
    """Copy the study of the earlier sweep; returns its number of trials."""
    earlier = run.config.params["resume_from"]
    record = link.record(earlier)
    if not record.state.is_final:
        raise WorkerError(
            f"The sweep {earlier} is still {record.state}.",
            remedy="Wait until it has finished, or stop it first.",
        )
    for orphan in link.children(earlier):  # if the earlier sweep was killed
        link.cancel(orphan, f"Its sweep has ended; {run.id} resumes it.")
    own = RunDirectory(run.directory).study
    copy_study(link.home.run(earlier).study, own)
    return len(read_study(own).trials)
