"""TrainingScreenshots: the screens of training and analysis, for `screenshots.py`.

Two seeds of PPO train on CartPole for some seconds, and one run fails, so that every page has
content.
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


class ScreenCapture(Protocol):
    """The methods of `ScreenshotRunner` that are used here."""

    def capture(self, name: str) -> None: ...
    def wait(self, condition: Callable[[], bool], name: str) -> None: ...


class TrainingScreenshots:
    """Captures the screens in the order of a typical workflow."""

    def __init__(self, screen: ScreenCapture, context: "AppContext") -> None:
        self._screen = screen
        self._context = context

    def capture_all(self) -> None:
        self._fill_in_form()
        seeds = [self._train(seed) for seed in (1, 2)]
        failed = self._fail()
        self._context.analysis.open_run(seeds[0])
        self._show_page("charts", self._context.analysis.charts_page)
        self._screen.wait(lambda: self._is_halfway(seeds[0]), "half of the training steps")
        self._screen.capture("charts-live")
        for run_id in (*seeds, failed):
            self._screen.wait(lambda run_id=run_id: self._is_finished(run_id), "end of a run")  # type: ignore[misc]
        self._show_run(seeds[0], failed)
        self._compare(seeds)
        self._show_tensorboard(seeds[0])
        self._show_trained()

    def _fill_in_form(self) -> None:
        context = self._context
        context.models.session_panel.choice.choose(_ENVIRONMENT)
        context.training_navigation.train()
        model = context.training.model
        self._screen.wait(lambda: not model.launch_problem, "ready form")
        self._screen.capture("train-new")

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
        run_id = self._context.link.client.submit(config).run_id
        self._screen.wait(lambda: self._run(run_id) is not None, "run in the list")
        return run_id

    def _run(self, run_id: str) -> RunRecord | None:
        return self._context.models.runs.by_id(run_id)

    def _is_halfway(self, run_id: str) -> bool:
        run = self._run(run_id)
        return run is not None and (run.digest.progress_done or 0) > _STEPS / 2

    def _is_finished(self, run_id: str) -> bool:
        run = self._run(run_id)
        return run is not None and run.state in (RunState.SUCCEEDED, RunState.FAILED)

    def _show_page(self, tab: "CentreTab", page: "LazyPage[Any]") -> None:
        self._context.window.centre.show_tab(tab)
        self._screen.wait(lambda: page.is_displayed, f"page {tab}")

    def _show_run(self, run_id: str, failed: str) -> None:
        analysis, select = self._context.analysis, self._context.runs_view.select
        select(run_id)
        self._show_page("run", analysis.run_page)
        self._screen.wait(lambda: analysis.selected_run.is_known, "metadata of the run")
        page = analysis.run_page.content
        page.show_tab("overview")
        self._screen.capture("run-overview")
        page.show_tab("configuration")
        self._screen.capture("run-configuration")
        page.show_tab("checkpoints")
        self._screen.capture("run-checkpoints")
        page.show_tab("artifacts")
        self._screen.capture("run-artifacts")
        page.show_tab("system")
        self._screen.capture("run-system")
        page.show_tab("reproduce")
        self._screen.capture("run-reproduce")
        select(failed)
        page.show_tab("log")
        self._screen.capture("run-log")
        page.show_tab("overview")
        self._screen.capture("run-failed")

    def _compare(self, run_ids: list[str]) -> None:
        analysis = self._context.analysis
        analysis.compare(run_ids)
        self._show_page("compare", analysis.compare_page)
        self._screen.capture("compare-curves")
        analysis.compare_page.content.show_tab("scores")
        self._screen.capture("compare-scores")
        analysis.compare_page.content.show_tab("replays")
        replays = self._context.analysis.models.compare.replays
        self._screen.wait(lambda: replays.is_ready, "two replays")
        self._screen.capture("compare-replays")

    def _show_tensorboard(self, run_id: str) -> None:
        self._context.runs_view.select(run_id)
        self._show_page("tensorboard", self._context.analysis.tensorboard_page)
        self._screen.capture("tensorboard")

    def _show_trained(self) -> None:
        self._context.models.session_panel.show_tab("trained")
        self._context.window.centre.show_tab("charts")
        self._screen.capture("use-trained")
        self._context.models.session_panel.set_mode("human")
