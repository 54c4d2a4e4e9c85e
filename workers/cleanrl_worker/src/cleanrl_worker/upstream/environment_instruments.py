"""Attaches the recorder to every environment that a script makes, without the script's knowledge.

`gymnasium.make` and its kin are replaced before the script is run, on gymnasium 0.29 and 1.x.
"""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.upstream.live_pictures import LivePictures
    from mosaic_worker import EpisodeRecorder


class EnvironmentInstruments:
    """What is done to environments as they are made. Only in the process that installed it.

    Those that a script makes in forked processes are recorded from outside, by their vector.
    """

    def __init__(self, recorder: EpisodeRecorder, pictures: LivePictures | None) -> None:
        self._recorder = recorder
        self._pictures = pictures
        self._indices = count()
        self._home = os.getpid()

    def install(self, gymnasium: Any) -> None:
        """Replace what makes environments in the module `gymnasium`."""
        make = self._recording(gymnasium.make)
        gymnasium.make = gymnasium.envs.registration.make = make
        make_vec = getattr(gymnasium, "make_vec", None)
        if make_vec is not None:
            recording = self._recording_vector(make_vec)
            gymnasium.make_vec = gymnasium.envs.registration.make_vec = recording
        self._record_processes(gymnasium.vector.AsyncVectorEnv)

    def _recording(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def recording_make(*args: Any, **keywords: Any) -> Any:
            if os.getpid() != self._home:
                return make(*args, **keywords)
            index = next(self._indices)
            if index or self._pictures is None:
                return self._recorder.attach(make(*args, **keywords), env_index=index)
            env = self._recorder.attach(_make_drawing(make, args, keywords), env_index=index)
            self._pictures.watch(env)
            return env

        return recording_make

    def _recording_vector(self, make_vec: Callable[..., Any]) -> Callable[..., Any]:
        def recording_make_vec(*args: Any, **keywords: Any) -> Any:
            envs = make_vec(*args, **keywords)
            return self._recorder.attach_vector(envs) if os.getpid() == self._home else envs

        return recording_make_vec

    def _record_processes(self, vector_class: Any) -> None:
        """Their parts are made in other processes, where no recorder of ours can follow."""
        construct = vector_class.__init__

        def recording_construct(envs: Any, *args: Any, **keywords: Any) -> None:
            construct(envs, *args, **keywords)
            if os.getpid() == self._home:
                self._recorder.attach_vector(envs)

        vector_class.__init__ = recording_construct


def _make_drawing(make: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The environment, able to draw where it can be; as the script asked for where it cannot."""
    if keywords.get("render_mode") is not None:
        return make(*args, **keywords)
    try:
        return make(*args, **{**keywords, "render_mode": "rgb_array"})
    except Exception:  # noqa: BLE001 - its constructor may refuse in any way, and is asked again
        return make(*args, **keywords)
