"""Uses every sampler and pruner in a real study, in the Python of the sweep worker's bundle.

Prints a JSON object: for each name the chosen values, or why it was rejected.
"""

import json
import warnings
from typing import Any

import optuna

from mosaic.client.sweeps.search_space import CategoricalChoices, NumericRange, SearchDistribution
from mosaic_worker import WorkerError
from sweep_worker.descriptor import DESCRIPTOR, PRUNERS, SAMPLERS
from sweep_worker.search_algorithms import grid_size, make_distributions, make_pruner, make_sampler
from sweep_worker.study_file import count_trials

SPACE: dict[str, SearchDistribution] = {
    "rate": NumericRange(low=1e-4, high=1e-2, log=True),
    "count": NumericRange(low=1, high=4, integer=True),
    "kind": CategoricalChoices(choices=("a", "b")),
}
DEFAULTS = {p.name: p.default for p in DESCRIPTOR.algorithms[0].parameters}


def search(sampler: str, pruner: str) -> Any:
    params = {**DEFAULTS, "sampler": sampler, "pruner": pruner, "lower": 0.0, "grid_points": 3}
    try:
        study = optuna.create_study(
            direction="maximize",
            sampler=make_sampler(params, SPACE, 1),
            pruner=make_pruner(params, 10, 100),
        )
    except WorkerError as error:
        return {"rejected": error.message}
    chosen = []
    pruned = 0
    for _ in range(grid_size(SPACE, 3) if sampler == "grid" else 4):
        trial = study.ask(make_distributions(SPACE))
        chosen.append(trial.params)
        for step in (10, 50, 100):
            trial.report(-1.0, step)
        pruned += trial.should_prune()
        study.tell(trial, 1.0)
    return {"chosen": chosen, "pruned": pruned, "counted": count_trials(study)}


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    results = {name: search(name, "none") for name in SAMPLERS}
    results |= {name: search("random", name) for name in PRUNERS}
    print(json.dumps(results))
