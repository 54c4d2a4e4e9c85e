"""BestConfiguration: `best.json` in the run's directory, and a preset in the home."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from optuna.trial import TrialState

from mosaic.client.presets import encode_preset, make_preset, save_preset, to_preset_name
from mosaic.client.sweeps.sweep_plan import BEST_FILE, make_trial_config
from mosaic.contract.atomic_file import write_atomically

if TYPE_CHECKING:
    import optuna

    from mosaic.client.sweeps.sweep_plan import SweepPlan
    from mosaic.contract.layout import Home
    from mosaic_worker import Run

PRESET_SAVED = "W223"
"""The best configuration was saved as a preset."""


class BestConfiguration:
    """Updates the file and the preset from the study."""

    def __init__(self, run: Run, plan: SweepPlan, home: Home) -> None:
        self._run = run
        self._plan = plan
        self._home = home
        self._written: int | None = None
        name = run.config.params["preset"] or _default_name(run, plan)
        self.preset = to_preset_name(name)

    def update(self, study: optuna.Study) -> None:
        """Write the file if another trial is the best."""
        best = best_trial(study)
        if best is None or best.number == self._written:
            return
        write_atomically(self._run.directory / BEST_FILE, encode_preset(self._document(best)))
        if self._written is None:
            self._run.emitter.artifact("report", BEST_FILE)
        self._written = best.number

    def save_preset(self, study: optuna.Study) -> None:
        """Save the preset if there is a best trial."""
        best = best_trial(study)
        if best is None:
            return
        save_preset(self._home, self.preset, self._document(best))
        self._run.emitter.log(
            "info",
            PRESET_SAVED,
            f"The best configuration is saved as the preset {self.preset}.",
            preset=self.preset,
            trial=best.number,
            value=best.value,
        )

    def _document(self, best: optuna.trial.FrozenTrial) -> dict[str, Any]:
        config = make_trial_config(
            self._plan, best.params, sweep_run=self._run.id, trial=best.number, repeat=0
        )
        origin = {"name": self.preset, "sweep_run": self._run.id, "trial": best.number}
        metric = self._run.config.params["metric"]
        return {
            **make_preset(config),
            "metadata": {"preset": {**origin, "metric": metric, "value": best.value}},
        }


def best_trial(study: optuna.Study) -> optuna.trial.FrozenTrial | None:
    """The completed trial with the best value, or None."""
    complete = [
        trial
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if trial.value is not None and not math.isnan(trial.value)
    ]
    if not complete:
        return None
    sign = -1 if study.direction.name == "MAXIMIZE" else 1
    return min(complete, key=lambda trial: (sign * (trial.value or 0.0), trial.number))


def _default_name(run: Run, plan: SweepPlan) -> str:
    name = run.config.raw.get("run_name")
    algo = plan.base.get("algo") or plan.base["worker"]
    return name or f"{algo}-{plan.base['env_id']}-{run.id[-8:]}"
