"""The descriptor of the sweep worker."""

from __future__ import annotations

from pathlib import Path

from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, Supports
from sweep_worker import __version__

SAMPLERS = ("tpe", "random", "grid", "cmaes", "qmc", "gp")
PRUNERS = ("none", "median", "percentile", "successive_halving", "hyperband", "threshold")
SUMMARIES = ("mean", "last", "best")

_SEARCH = (
    Parameter(
        "trials", "int", 20, min=1, max=1_000_000, group="Search",
        help="Number of trials. Default: 20.",
    ),
    Parameter(
        "sampler", "choice", "tpe", choices=SAMPLERS, group="Search",
        help="Optuna sampler. Default: tpe.",
    ),
    Parameter(
        "grid_points", "int", 5, min=2, max=1000, group="Search",
        help="Values per range of the grid sampler. Default: 5.",
    ),
    Parameter(
        "parallel", "int", 1, min=1, max=1000, unit="trials", group="Search",
        help="Concurrent trials, if the daemon has capacity. Default: 1.",
    ),
    Parameter(
        "seeds", "int", 1, min=1, max=1000, unit="runs", group="Search",
        help="Runs per trial with consecutive seeds, averaged. Default: 1.",
    ),
    Parameter(
        "timeout_s", "float", 0.0, min=0.0, unit="s", group="Search",
        help="Time after which no trial starts; 0 is unlimited. Default: 0.",
    ),
    Parameter(
        "max_failures", "int", 5, min=1, max=1_000_000, group="Search",
        help="Consecutive failed trials that end the sweep. Default: 5.",
    ),
)  # fmt: skip

_OBJECTIVE = (
    Parameter(
        "metric", "str", "charts/episodic_return", group="Objective",
        help="Metric to optimise. Default: charts/episodic_return.",
    ),
    Parameter(
        "direction", "choice", "maximize", choices=("maximize", "minimize"), group="Objective",
        help="Optimisation direction. Default: maximize.",
    ),
    Parameter(
        "summary", "choice", "mean", choices=SUMMARIES, group="Objective",
        help="Objective: mean of the last points, last, or best. Default: mean.",
    ),
    Parameter(
        "window", "int", 100, min=1, max=1_000_000, unit="points", group="Objective",
        help="Number of last points in the mean. Default: 100.",
    ),
)  # fmt: skip

_PRUNING = (
    Parameter(
        "pruner", "choice", "median", choices=PRUNERS, group="Pruning",
        help="Optuna pruner. Default: median.",
    ),
    Parameter(
        "report_every", "int", 0, min=0, unit="steps", group="Pruning",
        help="Steps between reports to the pruner. Default: total / 20.",
    ),
    Parameter(
        "startup_trials", "int", 5, min=0, max=1_000_000, group="Pruning",
        help="Trials before median and percentile prune. Default: 5.",
    ),
    Parameter(
        "warmup_steps", "int", 0, min=0, unit="steps", group="Pruning",
        help="Steps before median, percentile and threshold prune. Default: 0.",
    ),
    Parameter(
        "percentile", "float", 25.0, min=0.0, max=100.0, unit="%", group="Pruning",
        help="Percentile of trials to keep. Default: 25.",
    ),
    Parameter(
        "reduction_factor", "int", 3, min=2, max=100, group="Pruning",
        help="Reduction factor of successive_halving and hyperband. Default: 3.",
    ),
    Parameter(
        "lower", "float", None, group="Pruning",
        help="Lower limit of the threshold pruner. Default: none.",
    ),
    Parameter(
        "upper", "float", None, group="Pruning",
        help="Upper limit of the threshold pruner. Default: none.",
    ),
)  # fmt: skip

_RESULT = (
    Parameter(
        "preset", "str", "", group="Result",
        help="Preset name of the best configuration. Default: generated.",
    ),
    Parameter(
        "resume_from", "str", "", group="Result",
        help="Run id of an earlier sweep to resume. Default: none.",
    ),
)  # fmt: skip

DESCRIPTOR = Descriptor(
    worker="sweep_worker",
    label="Sweep Worker",
    version=__version__,
    summary="Searches hyperparameters of another worker's algorithm.",
    lane="analytics",
    modes=("sweep",),
    algorithms=(
        Algorithm(
            id="optuna",
            label="Optuna",
            doc="Hyperparameter search with Optuna; every trial is a run.",
            parameters=_SEARCH + _OBJECTIVE + _PRUNING + _RESULT,
            page=Path(__file__).with_name("optuna.md").read_text(encoding="utf-8"),
        ),
    ),
    environments=Environments(any=True),
    supports=Supports(pause=True, resume=True),
    needs=Needs(bundle="sweep_worker"),
    licence=("MIT",),
)
