"""TrainingPictures: the screens of training and of what it left, for `screenshots.py`.

Two seeds of PPO learn CartPole for some seconds, and one run fails, so that every page has
something to show.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from gym_gui.app.lazy_page import LazyPage
    from gym_gui.app.screens import CentreTab
    from gym_gui.app.wiring import AppContext

_STEPS = 40_000
_ENVIRONMENT = "CartPole-v1"


class Camera(Protocol):
    """As much of the photographer as is needed here."""

    def take(self, name: str) -> None: ...
    def wait(self, condition: Callable[[], bool], what: str) -> None: ...


class TrainingPictures:
    """Takes them in the order in which a person would see them."""

    def __init__(self, camera: Camera, bench: "AppContext") -> None:
        self._camera = camera
        self._bench = bench

    def take_all(self) -> None:
        self._fill_in_form()
        seeds = [self._train(seed) for seed in (1, 2)]
        failed = self._fail()
        self._bench.analysis.open_run(seeds[0])
        self._look_at("charts", self._bench.analysis.charts_page)
        self._camera.wait(lambda: self._is_halfway(seeds[0]), "half of a training")
        self._camera.take("charts-live")
        for run_id in (*seeds, failed):
            self._camera.wait(lambda run_id=run_id: self._is_over(run_id), "end of a run")  # type: ignore[misc]
        self._show_run(seeds[0], failed)
        self._compare(seeds)
        self._show_tensorboard(seeds[0])
        self._show_trained()

    def _fill_in_form(self) -> None:
        bench = self._bench
        bench.models.session_panel.choice.choose(_ENVIRONMENT)
        bench.training_conduct.train()
        model = bench.training.model
        self._camera.wait(lambda: not model.launch_problem, "ready form")
        self._camera.take("train-new")

    def _train(self, seed: int) -> str:
        return self._submit(
            {
                "run_name": f"CartPole PPO s{seed}",
                "worker": "cleanrl_worker",
                "algo": "ppo",
                "env_id": _ENVIRONMENT,
                "seed": seed,
                "total_timesteps": _STEPS,
                "artifacts": {
                    "tensorboard": {"enabled": True},
                    "checkpoints": {"every_steps": _STEPS // 4},
                },
                "telemetry": {"steps": "sampled", "frames": True},
            }
        )

    def _fail(self) -> str:
        params = {"steps": 400, "rate": 200, "crash_at": 200}
        return self._submit(
            {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", "params": params}
        )

    def _submit(self, config: dict[str, Any]) -> str:
        run_id = self._bench.link.client.submit(config).run_id
        self._camera.wait(lambda: self._run(run_id) is not None, "run in the list")
        return run_id

    def _run(self, run_id: str) -> RunRecord | None:
        return self._bench.models.runs.by_id(run_id)

    def _is_halfway(self, run_id: str) -> bool:
        run = self._run(run_id)
        return run is not None and (run.digest.progress_done or 0) > _STEPS / 2

    def _is_over(self, run_id: str) -> bool:
        run = self._run(run_id)
        return run is not None and run.state in (RunState.SUCCEEDED, RunState.FAILED)

    def _look_at(self, tab: "CentreTab", page: "LazyPage[Any]") -> None:
        self._bench.window.centre.show_tab(tab)
        self._camera.wait(lambda: page.is_filled, f"page of {tab}")

    def _show_run(self, run_id: str, failed: str) -> None:
        analysis, select = self._bench.analysis, self._bench.runs_view.select
        select(run_id)
        self._look_at("run", analysis.run_page)
        self._camera.wait(lambda: analysis.shown.is_known, "papers of the run")
        page = analysis.run_page.content
        page.show_tab("overview")
        self._camera.take("run-overview")
        page.show_tab("configuration")
        self._camera.take("run-configuration")
        page.show_tab("checkpoints")
        self._camera.take("run-checkpoints")
        page.show_tab("artifacts")
        self._camera.take("run-artifacts")
        page.show_tab("system")
        self._camera.take("run-system")
        page.show_tab("reproduce")
        self._camera.take("run-reproduce")
        select(failed)
        page.show_tab("log")
        self._camera.take("run-log")
        page.show_tab("overview")
        self._camera.take("run-failed")

    def _compare(self, run_ids: list[str]) -> None:
        analysis = self._bench.analysis
        analysis.compare(run_ids)
        self._look_at("compare", analysis.compare_page)
        self._camera.take("compare-curves")
        analysis.compare_page.content.show_tab("scores")
        self._camera.take("compare-scores")
        analysis.compare_page.content.show_tab("replays")
        replays = self._bench.analysis.models.compare.replays
        self._camera.wait(lambda: replays.is_ready, "two replays")
        self._camera.take("compare-replays")

    def _show_tensorboard(self, run_id: str) -> None:
        self._bench.runs_view.select(run_id)
        self._look_at("tensorboard", self._bench.analysis.tensorboard_page)
        self._camera.take("tensorboard")

    def _show_trained(self) -> None:
        self._bench.models.session_panel.show_tab("trained")
        self._bench.window.centre.show_tab("charts")
        self._camera.take("use-trained")
        self._bench.models.session_panel.set_mode("human")
