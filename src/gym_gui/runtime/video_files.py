"""VideoFiles: the MP4 files that a run has left behind, as its manifest lists them."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.layout import Home
from mosaic.contract.manifest import ManifestError, decode_manifest
from mosaic.contract.runs import RunDetails

_PLAYABLE = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".gif")


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoFile:
    """One of them; whether it is still there shows when it is opened."""

    path: Path
    title: str
    size_bytes: int
    t: float
    meta: dict[str, Any]
    """Metadata from its writer: episode, step, return."""


def videos_of(details: RunDetails, home: Home | None) -> tuple[VideoFile, ...]:
    """Newest last. None are playable here when the daemon's home is on another machine."""
    if home is None:
        return ()
    try:
        manifest = decode_manifest(details.manifest_json)
    except ManifestError:
        return ()
    folder = home.run(details.run.run_id).path
    listed = (file for file in manifest.videos if file.path.lower().endswith(_PLAYABLE))
    return tuple(
        VideoFile(
            path=folder / file.path,
            title=PurePosixPath(file.path).stem.replace("rl-video-", "").replace("-", " "),
            size_bytes=file.size_bytes,
            t=file.t,
            meta=file.meta,
        )
        for file in sorted(listed, key=lambda file: file.t)
    )


def read_videos(link: TrainerLink, run_id: str) -> tuple[VideoFile, ...]:
    """Waits for the daemon. Raises `UserError`."""
    return videos_of(link.client.run(run_id), link.client.home)
