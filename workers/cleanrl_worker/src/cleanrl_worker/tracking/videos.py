"""EpisodeVideos: a wrapper that films some of the episodes of the environment it is around.

The session puts it around what `gymnasium.make` returned, with `render_mode="rgb_array"`. The files
have the names that CleanRL's scripts give them. Whatever goes wrong with a video, training goes on.
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
_MOST_CUBES = 1000


def missing_package() -> str:
    """What to tell a person when there can be no videos; empty when there can."""
    if importlib.util.find_spec("av") is not None:
        return ""
    return (
        "There are no videos, because the package `av` is missing: install the extra `video` of the"
        " bundle cleanrl_worker (`mosaic train … --extra video`)."
    )


class EpisodeVideos(gym.Wrapper):
    """`rl-video-episode-K.mp4` and `.meta.json` of episode 0 and of some later ones."""

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
        """`every` so many episodes; None: CleanRL's rule. `on_video` is told of a whole file.

        `on_failure` is told once why there will be no more videos.
        """
        super().__init__(env)
        self._folder = folder
        self._every = every
        self._max_frames = max_frames
        self._on_video = on_video
        self._on_failure = on_failure
        self._fps = float(env.metadata.get("render_fps") or _DEFAULT_FPS)
        self._is_filming = False
        self._has_failed = False
        self._film: Mp4File | None = None
        self._episode = -1
        self._length = 0
        self._return = 0.0

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        if self._is_filming:
            self._end_film(has_ended=False)
        outcome = self.env.reset(**given)
        self._episode += 1
        self._length, self._return = 0, 0.0
        self._is_filming = not self._has_failed and is_filmed(self._episode, self._every)
        if self._is_filming:
            self._take_picture()
        return outcome

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        outcome = self.env.step(action)
        if self._is_filming:
            _, reward, terminated, truncated, _ = outcome
            self._length += 1
            self._return += float(reward)
            self._take_picture()
            if self._is_filming and (terminated or truncated):
                self._end_film(has_ended=True)
        return outcome

    def close(self) -> None:
        """An episode that training left in its middle is kept as far as it went."""
        if self._is_filming:
            self._end_film(has_ended=False)
        super().close()

    def _take_picture(self) -> None:
        if self._film is not None and self._film.frames >= self._max_frames:
            return
        try:
            picture = _checked(self.env.render())
            if self._film is None:
                self._film = self._new_film(picture)
            self._film.write(picture)
        except Exception as error:  # noqa: BLE001 - the environment's and the codec's own code
            self._give_up(error)

    def _end_film(self, *, has_ended: bool) -> None:
        film, self._film = self._film, None
        self._is_filming = False
        if film is None:
            return
        path = self._path()
        meta = {
            "episode": self._episode,
            "env_id": self.spec.id if self.spec else "",
            "length": self._length,
            "return": self._return,
            "ended": has_ended,
            "frames": film.frames,
            "fps": self._fps,
        }
        try:
            film.finish()
            path.with_suffix(".meta.json").write_text(json.dumps(meta), encoding="utf-8")
            self._partial().replace(path)
            self._on_video(path, meta)
        except Exception as error:  # noqa: BLE001 - a full disk must not end the training
            self._give_up(error)

    def _new_film(self, picture: Any) -> Mp4File:
        from cleanrl_worker.tracking.mp4_file import Mp4File  # noqa: PLC0415 - needs the extra

        self._folder.mkdir(parents=True, exist_ok=True)
        return Mp4File(self._partial(), picture, self._fps)

    def _give_up(self, error: Exception) -> None:
        film, self._film = self._film, None
        self._is_filming = False
        self._has_failed = True
        if film is not None:
            film.abandon()
        self._partial().unlink(missing_ok=True)
        words = str(error) or type(error).__name__
        self._on_failure(
            f"Filming episode {self._episode} failed, and there will be no more videos: {words}"
        )

    def _path(self) -> Path:
        return self._folder / f"rl-video-episode-{self._episode}.mp4"

    def _partial(self) -> Path:
        path = self._path()
        return path.with_name(f".partial-{path.name}")


def is_filmed(episode: int, every: int | None) -> bool:
    """Every so many; None: the cubes 0, 1, 8, 27 … below a thousand, then every thousandth."""
    if every is not None:
        return episode % every == 0
    if episode < _MOST_CUBES:
        return bool(round(episode ** (1 / 3)) ** 3 == episode)
    return episode % _MOST_CUBES == 0


def _checked(picture: Any) -> Any:
    """Raises ValueError for what is no picture."""
    if not isinstance(picture, np.ndarray) or picture.ndim != 3 or picture.shape[2] != 3:
        raise ValueError(f"the environment drew no picture in colours but {_kind(picture)}.")
    return picture.astype(np.uint8, copy=False)


def _kind(drawn: Any) -> str:
    if isinstance(drawn, np.ndarray):
        return f"an array of the shape {drawn.shape}"
    return "nothing" if drawn is None else f"a {type(drawn).__name__}"
