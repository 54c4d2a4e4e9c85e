"""Everything that is kept beyond telemetry, behind one object for the session.

Each of them may be missing: then the reason is said once, and the training goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleanrl_worker.tracking.event_file import EventFile
from cleanrl_worker.tracking.hyperparameters import hyperparameter_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.outlet import Outlet
    from cleanrl_worker.session.plan import SessionPlan
    from cleanrl_worker.tracking.wandb_run import WandbRun


class Trackers:
    """TensorBoard, Weights & Biases, videos, and the Hugging Face hub at the end."""

    def __init__(
        self, outlet: Outlet, plan: SessionPlan, args: SharedArgs, algo: str, run_name: str
    ) -> None:
        self._outlet = outlet
        self._plan = plan
        self._args = args
        self._algo = algo
        self._run_name = run_name
        self._events = self._event_file() if plan.tensorboard else None
        self._wandb = self._wandb_run() if args.track else None

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        if self._events is not None:
            try:
                self._events.scalars(values, step)
            except OSError as error:
                self._events = None
                self._outlet.say("warning", f"TensorBoard's file cannot be written: {error}.")
        if self._wandb is not None:
            self._wandb.scalars(values, step)

    def film(self, env: Any) -> Any:
        """`env`, with videos of some of its episodes; as it is, when that cannot be had."""
        from cleanrl_worker.tracking.videos import EpisodeVideos, missing_package  # noqa: PLC0415

        missing = missing_package()
        if missing:
            self._outlet.say("warning", missing)
            return env
        folder = self._outlet.directory / "videos" / self._run_name
        return EpisodeVideos(
            env,
            folder,
            every=self._plan.video_every,
            max_frames=self._plan.video_frames,
            on_video=self._announce_video,
            on_failure=lambda message: self._outlet.say("warning", message),
        )

    def finish(self) -> None:
        """The training has ended as it should."""
        self._close_files()
        if self._args.upload_model:
            from cleanrl_worker.tracking.hub import upload_model  # noqa: PLC0415 - rarely needed

            upload_model(self._outlet, self._args, self._algo, self._run_name)

    def close(self) -> None:
        self._close_files()

    def _close_files(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            with contextlib.suppress(OSError):  # a full disk; all values are in the telemetry too
                events.close()
        tracked, self._wandb = self._wandb, None
        if tracked is not None:
            tracked.finish()

    def _event_file(self) -> EventFile | None:
        folder = Path("runs") / self._run_name
        try:
            events = EventFile(self._outlet.directory / folder)
        except ImportError as error:
            self._outlet.say("warning", f"There are no event files for TensorBoard: {error}.")
            return None
        events.text("hyperparameters", hyperparameter_table(dataclasses.asdict(self._args)))
        events.flush()
        self._outlet.artifact("tensorboard", str(folder), {})
        return events

    def _wandb_run(self) -> WandbRun | None:
        from cleanrl_worker.tracking.wandb_run import start_wandb  # noqa: PLC0415 - takes long

        return start_wandb(self._outlet, self._plan, self._args, self._algo, self._run_name)

    def _announce_video(self, path: Path, meta: Mapping[str, Any]) -> None:
        self._outlet.artifact("video", str(path.relative_to(self._outlet.directory)), meta)
