"""Creates studies with Optuna, in a Python that has it: `make_studies.py FOLDER`."""

import sys
from pathlib import Path

import optuna
from optuna.trial import TrialState


def make_study_of_all_kinds(path: Path) -> None:
    """Every kind of distribution, state and number, and two studies in one file."""
    storage = f"sqlite:///{path}"
    optuna.create_study(storage=storage, study_name="empty", directions=["minimize", "maximize"])
    study = optuna.create_study(storage=storage, study_name="full", direction="minimize")
    study.set_user_attr("about", "tests")
    distributions = optuna.distributions
    space = {
        "rate": distributions.FloatDistribution(1e-5, 1e-1, log=True),
        "count": distributions.IntDistribution(1, 9),
        "kind": distributions.CategoricalDistribution(["a", 2, 3.5, None, True]),
    }
    values = [
        {"rate": 0.001, "count": 4, "kind": None},
        {"rate": 0.01, "count": 5, "kind": 2},
        {"rate": 0.02, "count": 6, "kind": True},
        {"rate": 0.03, "count": 7, "kind": "a"},
    ]
    for params in values:
        study.enqueue_trial(params)
    trials = [study.ask(space) for _ in values]
    for step, value in enumerate([3.0, float("inf"), float("nan")]):
        trials[0].report(value, step)
    trials[0].set_user_attr("runs", ["x"])
    study.tell(trials[0], 2.5)
    study.tell(trials[1], float("-inf"))
    trials[2].report(7.0, 40)
    study.tell(trials[2], state=TrialState.PRUNED)
    study.tell(trials[3], state=TrialState.FAIL)
    study.ask(space)
    study.enqueue_trial({"rate": 0.05})


def make_cleanrl_study(path: Path) -> None:
    """A study of CleanRL's tuner: names with dashes, choices, and the seed's index as the step."""
    study = optuna.create_study(
        study_name="tuner: CartPole-v1__1",
        direction="maximize",
        storage=f"sqlite:///{path}",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
        sampler=optuna.samplers.TPESampler(seed=1),
    )

    def objective(trial: optuna.Trial) -> float:
        rate = trial.suggest_float("learning-rate", 0.0003, 0.003, log=True)
        trial.suggest_categorical("num-minibatches", [1, 2, 4])
        trial.suggest_categorical("num-steps", [5, 16, 32, 64, 128])
        trial.suggest_float("vf-coef", 0, 5)
        scores = [rate * 1000 + seed for seed in range(3)]
        for seed in range(3):
            trial.report(sum(scores[: seed + 1]) / (seed + 1), step=seed)
        score: float = sum(scores) / 3
        return score

    study.optimize(objective, n_trials=6)


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder = Path(sys.argv[1])
    make_study_of_all_kinds(folder / "any.db")
    make_cleanrl_study(folder / "cleanrl_hpopt.db")
