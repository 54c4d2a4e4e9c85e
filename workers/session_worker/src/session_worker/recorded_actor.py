"""RecordedActor: repeats the actions of a recorded episode.

The recording is an EpisodeRecording as JSON. The result can differ from the recording if the
episode starts differently; exact replays use resimulation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.environments.spaces import to_action
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from mosaic_worker import Run

DIFFERENT_START = "W210"
"""Recorded actions are repeated from a different start, so that the episode may differ."""


class Recording(NamedTuple):
    """The fields of a recorded episode that are needed here."""

    env_id: str
    seed: int | None
    actions: list[Any]


def read_recording(path: str) -> Recording:
    """Read a recorded episode. Raises WorkerError."""
    if not path:
        raise WorkerError(
            "No recording is set.",
            remedy="Set the parameter 'recording', or name the actor 'recorded:/path/of/file'.",
        )
    try:
        content = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise WorkerError(
            f"The recording {path} cannot be read: {error.strerror or error}.",
            remedy="Pass the absolute path of a recorded episode.",
        ) from error
    except ValueError as error:
        raise WorkerError(
            f"The recording {path} is not JSON: {error}.",
            remedy="Pass the path of a recorded episode.",
        ) from error
    actions = content.get("actions") if isinstance(content, dict) else None
    if not isinstance(actions, list):
        raise WorkerError(
            f"{path} is not a recorded episode: it has no list of actions.",
            remedy='Use a file such as {"env_id": …, "seed": …, "actions": […]}.',
        )
    seed = content.get("seed")
    return Recording(
        env_id=str(content.get("env_id", "")),
        seed=seed if isinstance(seed, int) else None,
        actions=actions,
    )


class RecordedActor:
    """Takes the recorded actions in order, from the first one in each episode."""

    def __init__(self, env: Any, recording: Recording, run: Run) -> None:
        self.episode_seed = recording.seed
        self._space = env.action_space
        self._actions = recording.actions
        self._next = 0
        env_id = run.config.env_id
        if recording.env_id and recording.env_id != env_id:
            raise WorkerError(
                f"The recording is of {recording.env_id}, but the environment is {env_id}.",
                remedy=f"Play it in {recording.env_id}.",
            )
        if recording.seed is None:
            run.emitter.log(
                "warning",
                DIFFERENT_START,
                "The recording has no seed, so its actions are repeated from a different start."
                " Use replay to see the original episode.",
            )

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:  # noqa: ARG002
        self._next = 0

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - interface
        if self._next == len(self._actions):
            raise WorkerError(
                f"The recording has only {self._next} actions, but the episode continues.",
                remedy="Take over, or reset.",
            )
        self._next += 1
        return to_action(self._space, self._actions[self._next - 1])
