"""SessionTrackers: the outputs of a session beyond telemetry.

Each of them may be unavailable: then a warning gives the reason once, and the training continues.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from mosaic_worker.tracking.settings import TrackingSettings, WandbSettings
from mosaic_worker.tracking.trackers import Trackers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cleanrl_worker.arguments import SessionOptions, SharedArgs
    from cleanrl_worker.session.sink import RunSink


class SessionTrackers:
    """TensorBoard, Weights & Biases, videos, and the Hugging Face hub at the end."""

    def __init__(
        self, sink: RunSink, options: SessionOptions, args: SharedArgs, algo: str, run_name: str
    ) -> None:
        self._sink = sink
        self._options = options
        self._args = args
        self._algo = algo
        self._run_name = run_name
        self._trackers = Trackers(sink, tracking_settings(options, args, algo, run_name))

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        self._trackers.scalars(values, step)

    def record_video(self, env: Any) -> Any:
        """Wrap `env` to record some of its episodes; unchanged, with a warning, if not possible."""
        from cleanrl_worker.tracking.videos import RecordEpisodes, missing_package  # noqa: PLC0415

        missing = missing_package()
        if missing:
            self._sink.log_message("warning", missing)
            return env
        folder = self._sink.directory / "videos" / self._run_name
        return RecordEpisodes(
            env,
            folder,
            every=self._options.video_every,
            max_frames=self._options.video_frames,
            on_video=self._announce_video,
            on_failure=lambda message: self._sink.log_message("warning", message),
        )

    def finish(self) -> None:
        """Call after a successful training."""
        self.close()
        if self._args.upload_model:
            from cleanrl_worker.tracking.hub import upload_model  # noqa: PLC0415 - rarely needed

            upload_model(self._sink, self._args, self._algo, self._run_name)

    def close(self) -> None:
        self._trackers.close()

    def _announce_video(self, path: Path, meta: Mapping[str, Any]) -> None:
        self._sink.artifact("video", str(path.relative_to(self._sink.directory)), meta)


def tracking_settings(
    options: SessionOptions, args: SharedArgs, algo: str, run_name: str
) -> TrackingSettings:
    """Return the SDK's tracking settings, for a run and for a script."""
    wandb = WandbSettings(
        project=args.wandb_project_name,
        entity=args.wandb_entity,
        mode=options.wandb_mode,
        proxy=options.wandb_proxy,
        group=f"{args.env_id}-{algo}",
    )
    return TrackingSettings(
        name=run_name,
        parameters={"algo": algo, **dataclasses.asdict(args)},
        tensorboard=options.tensorboard,
        wandb=wandb if args.track else None,
        bundle="cleanrl_worker",
    )
