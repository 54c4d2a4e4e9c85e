"""What the sweep worker says about itself: every way of searching is a parameter."""

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
        help="How many sets of values to try.",
    ),
    Parameter(
        "sampler", "choice", "tpe", choices=SAMPLERS, group="Search",
        help="Who chooses the next values.",
    ),
    Parameter(
        "grid_points", "int", 5, min=2, max=1000, group="Search",
        help="Into how many values the sampler grid divides a range.",
    ),
    Parameter(
        "parallel", "int", 1, min=1, max=1000, unit="trials", group="Search",
        help="How many trials at once, as far as the daemon has room for them.",
    ),
    Parameter(
        "seeds", "int", 1, min=1, max=1000, unit="runs", group="Search",
        help="Runs of each trial, with consecutive seeds; their mean counts.",
    ),
    Parameter(
        "timeout_s", "float", 0.0, min=0.0, unit="s", group="Search",
        help="After so long no further trial begins. 0 is never.",
    ),
    Parameter(
        "max_failures", "int", 5, min=1, max=1_000_000, group="Search",
        help="So many failed trials in a row end the sweep.",
    ),
)  # fmt: skip

_OBJECTIVE = (
    Parameter(
        "metric", "str", "charts/episodic_return", group="Objective",
        help="The metric of the runs that is to become good.",
    ),
    Parameter(
        "direction", "choice", "maximize", choices=("maximize", "minimize"), group="Objective",
        help="Whether more of it is better, or less.",
    ),
    Parameter(
        "summary", "choice", "mean", choices=SUMMARIES, group="Objective",
        help="What of a run's curve counts: the mean of its last points, the last, or the best.",
    ),
    Parameter(
        "window", "int", 100, min=1, max=1_000_000, unit="points", group="Objective",
        help="How many of the last points the mean is of.",
    ),
)  # fmt: skip

_PRUNING = (
    Parameter(
        "pruner", "choice", "median", choices=PRUNERS, group="Pruning",
        help="Who ends trials early that will not become good.",
    ),
    Parameter(
        "report_every", "int", 0, min=0, unit="steps", group="Pruning",
        help="Steps between two looks at a trial. 0 is a twentieth of the total.",
    ),
    Parameter(
        "startup_trials", "int", 5, min=0, max=1_000_000, group="Pruning",
        help="Trials before median and percentile end any.",
    ),
    Parameter(
        "warmup_steps", "int", 0, min=0, unit="steps", group="Pruning",
        help="Steps that median, percentile and threshold leave to every trial.",
    ),
    Parameter(
        "percentile", "float", 25.0, min=0.0, max=100.0, unit="%", group="Pruning",
        help="How many of the trials so far percentile takes to be good.",
    ),
    Parameter(
        "reduction_factor", "int", 3, min=2, max=100, group="Pruning",
        help="Of so many trials successive_halving and hyperband let one go on.",
    ),
    Parameter(
        "lower", "float", None, group="Pruning",
        help="Below this, threshold ends a trial.",
    ),
    Parameter(
        "upper", "float", None, group="Pruning",
        help="Above this, threshold ends a trial.",
    ),
)  # fmt: skip

_RESULT = (
    Parameter(
        "preset", "str", "", group="Result",
        help="Under which name the best configuration is kept. Empty: one is made.",
    ),
    Parameter(
        "resume_from", "str", "", group="Result",
        help="The run id of an earlier sweep to go on from.",
    ),
)  # fmt: skip

DESCRIPTOR = Descriptor(
    worker="sweep_worker",
    label="Sweep Worker",
    version=__version__,
    summary="Searches for good parameters of another worker's algorithm.",
    lane="analytics",
    modes=("sweep",),
    algorithms=(
        Algorithm(
            id="optuna",
            label="Optuna",
            doc="Trials are runs of their own; Optuna chooses their values and ends hopeless ones.",
            parameters=_SEARCH + _OBJECTIVE + _PRUNING + _RESULT,
            page=Path(__file__).with_name("optuna.md").read_text(encoding="utf-8"),
        ),
    ),
    environments=Environments(any=True),
    supports=Supports(pause=True, resume=True),
    needs=Needs(bundle="sweep_worker"),
    licence=("MIT",),
)
