"""Everything that is kept beyond telemetry, behind one object for the session.

Each of them may be missing: then the reason is said once, and the training goes on.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from mosaic_worker.tracking.settings import TrackingSettings, WandbSettings
from mosaic_worker.tracking.trackers import Trackers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.outlet import Outlet
    from cleanrl_worker.session.plan import SessionPlan


class SessionTrackers:
    """TensorBoard, Weights & Biases, videos, and the Hugging Face hub at the end."""

    def __init__(
        self, outlet: Outlet, plan: SessionPlan, args: SharedArgs, algo: str, run_name: str
    ) -> None:
        self._outlet = outlet
        self._plan = plan
        self._args = args
        self._algo = algo
        self._run_name = run_name
        self._trackers = Trackers(outlet, tracking_settings(plan, args, algo, run_name))

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        self._trackers.scalars(values, step)

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
        self.close()
        if self._args.upload_model:
            from cleanrl_worker.tracking.hub import upload_model  # noqa: PLC0415 - rarely needed

            upload_model(self._outlet, self._args, self._algo, self._run_name)

    def close(self) -> None:
        self._trackers.close()

    def _announce_video(self, path: Path, meta: Mapping[str, Any]) -> None:
        self._outlet.artifact("video", str(path.relative_to(self._outlet.directory)), meta)


def tracking_settings(
    plan: SessionPlan, args: SharedArgs, algo: str, run_name: str
) -> TrackingSettings:
    """Of a run and of a script alike."""
    wandb = WandbSettings(
        project=args.wandb_project_name,
        entity=args.wandb_entity,
        mode=plan.wandb_mode,
        proxy=plan.wandb_proxy,
        group=f"{args.env_id}-{algo}",
    )
    return TrackingSettings(
        name=run_name,
        parameters={"algo": algo, **dataclasses.asdict(args)},
        tensorboard=plan.tensorboard,
        wandb=wandb if args.track else None,
        bundle="cleanrl_worker",
    )
