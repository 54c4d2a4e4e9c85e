"""RecordEpisodes: a wrapper that records videos of some episodes.

The session wraps the result of `gymnasium.make` with `render_mode="rgb_array"`. The files have the
names of gymnasium's RecordVideo, as with CleanRL. A failure never ends the training.
"""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cleanrl_worker.tracking.mp4_file import Mp4File

    OnVideo = Callable[[Path, Mapping[str, Any]], Any]

_DEFAULT_FPS = 30.0
_CUBIC_LIMIT = 1000


def missing_package() -> str:
    """Return why no videos can be recorded; empty if they can."""
    if importlib.util.find_spec("av") is not None:
        return ""
    return (
        "No videos are recorded, because the package `av` is missing: install the extra `video` of"
        " the bundle cleanrl_worker (`mosaic train … --extra video`)."
    )


class RecordEpisodes(gym.Wrapper):
    """Writes `rl-video-episode-K.mp4` and `.meta.json` of episode 0 and of some later ones."""

    def __init__(
        self,
        env: Any,
        folder: Path,
        *,
        every: int | None,
        max_frames: int,
        on_video: OnVideo,
        on_failure: Callable[[str], Any],
    ) -> None:
        """Record every N-th episode; with `every` None, use CleanRL's cubic schedule.

        `on_video` gets each complete file; `on_failure` is called once, with the reason.
        """
        super().__init__(env)
        self._folder = folder
        self._every = every
        self._max_frames = max_frames
        self._on_video = on_video
        self._on_failure = on_failure
        self._fps = float(env.metadata.get("render_fps") or _DEFAULT_FPS)
        self._is_recording = False
        self._has_failed = False
        self._video: Mp4File | None = None
        self._episode = -1
        self._length = 0
        self._return = 0.0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        if self._is_recording:
            self._end_video(has_ended=False)
        result = self.env.reset(**kwargs)
        self._episode += 1
        self._length, self._return = 0, 0.0
        self._is_recording = not self._has_failed and is_recorded(self._episode, self._every)
        if self._is_recording:
            self._record_frame()
        return result

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        result = self.env.step(action)
        if self._is_recording:
            _, reward, terminated, truncated, _ = result
            self._length += 1
            self._return += float(reward)
            self._record_frame()
            if self._is_recording and (terminated or truncated):
                self._end_video(has_ended=True)
        return result

    def close(self) -> None:
        """Finish the video of an episode that has not ended."""
        if self._is_recording:
            self._end_video(has_ended=False)
        super().close()

    def _record_frame(self) -> None:
        if self._video is not None and self._video.frames >= self._max_frames:
            return
        try:
            frame = _check_frame(self.env.render())
            if self._video is None:
                self._video = self._open_video(frame)
            self._video.write(frame)
        except Exception as error:  # noqa: BLE001 - environments and codecs raise anything
            self._disable(error)

    def _end_video(self, *, has_ended: bool) -> None:
        video, self._video = self._video, None
        self._is_recording = False
        if video is None:
            return
        path = self._path()
        meta = {
            "episode": self._episode,
            "env_id": self.spec.id if self.spec else "",
            "length": self._length,
            "return": self._return,
            "ended": has_ended,
            "frames": video.frames,
            "fps": self._fps,
        }
        try:
            video.finish()
            path.with_suffix(".meta.json").write_text(json.dumps(meta), encoding="utf-8")
            self._partial().replace(path)
            self._on_video(path, meta)
        except Exception as error:  # noqa: BLE001 - a full disk must not end the training
            self._disable(error)

    def _open_video(self, first_frame: Any) -> Mp4File:
        from cleanrl_worker.tracking.mp4_file import Mp4File  # noqa: PLC0415 - needs the extra

        self._folder.mkdir(parents=True, exist_ok=True)
        return Mp4File(self._partial(), first_frame, self._fps)

    def _disable(self, error: Exception) -> None:
        video, self._video = self._video, None
        self._is_recording = False
        self._has_failed = True
        if video is not None:
            video.abandon()
        self._partial().unlink(missing_ok=True)
        reason = str(error) or type(error).__name__
        self._on_failure(
            f"Recording episode {self._episode} failed, no more videos will be recorded: {reason}"
        )

    def _path(self) -> Path:
        return self._folder / f"rl-video-episode-{self._episode}.mp4"

    def _partial(self) -> Path:
        path = self._path()
        return path.with_name(f".partial-{path.name}")


def is_recorded(episode: int, every: int | None) -> bool:
    """Every N-th episode; None: the cubes 0, 1, 8, 27, ... below 1000, then every 1000th."""
    if every is not None:
        return episode % every == 0
    if episode < _CUBIC_LIMIT:
        return bool(round(episode ** (1 / 3)) ** 3 == episode)
    return episode % _CUBIC_LIMIT == 0


def _check_frame(frame: Any) -> Any:
    """Raises ValueError if `frame` is not an RGB image."""
    if not isinstance(frame, np.ndarray) or frame.ndim != 3 or frame.shape[2] != 3:
        raise ValueError(f"render() must return an RGB image, got {_kind(frame)}.")
    return frame.astype(np.uint8, copy=False)


def _kind(rendered: Any) -> str:
    if isinstance(rendered, np.ndarray):
        return f"an array of shape {rendered.shape}"
    return "None" if rendered is None else f"a {type(rendered).__name__}"
