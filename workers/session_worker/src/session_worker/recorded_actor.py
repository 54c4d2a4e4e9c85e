"""Repeats the actions of a recorded episode.

The recording is an EpisodeRecording as JSON. What it gives is the person's or agent's part again;
whether all else is the same depends on how the episode begins. Exact replays are made elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.environments.spaces import to_action
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from mosaic_worker import Run

OTHER_BEGINNING = "W210"
"""A recorded episode is repeated from another beginning, so that it may take another course."""


class Recording(NamedTuple):
    """What is needed of a recorded episode."""

    env_id: str
    seed: int | None
    actions: list[Any]


def read_recording(path: str) -> Recording:
    """The episode in the file; WorkerError says why there is none."""
    if not path:
        raise WorkerError(
            "There is no recording to play.",
            remedy="Set the parameter 'recording', or name the actor 'recorded:/path/of/file'.",
        )
    try:
        content = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise WorkerError(
            f"The recording {path} cannot be read: {error.strerror or error}.",
            remedy="Give the full path of a recorded episode.",
        ) from error
    except ValueError as error:
        raise WorkerError(
            f"The recording {path} is not JSON: {error}.",
            remedy="Give the path of a recorded episode.",
        ) from error
    actions = content.get("actions") if isinstance(content, dict) else None
    if not isinstance(actions, list):
        raise WorkerError(
            f"{path} is no recorded episode: it has no list of actions.",
            remedy='Give a file such as {"env_id": …, "seed": …, "actions": […]}.',
        )
    seed = content.get("seed")
    return Recording(
        env_id=str(content.get("env_id", "")),
        seed=seed if isinstance(seed, int) else None,
        actions=actions,
    )


class RecordedActor:
    """One recorded action after the other, from the first one in each episode."""

    def __init__(self, env: Any, recording: Recording, run: Run) -> None:
        self.episode_seed = recording.seed
        self._space = env.action_space
        self._actions = recording.actions
        self._next = 0
        env_id = run.config.env_id
        if recording.env_id and recording.env_id != env_id:
            raise WorkerError(
                f"The recording is of {recording.env_id}, and this is {env_id}.",
                remedy=f"Play it in {recording.env_id}.",
            )
        if recording.seed is None:
            run.emitter.log(
                "warning",
                OTHER_BEGINNING,
                "The recording names no seed, so its actions are repeated from another beginning."
                " Replay it to see it as it was.",
            )

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:  # noqa: ARG002
        self._next = 0

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - of all actors
        if self._next == len(self._actions):
            raise WorkerError(
                f"The recording is over after {self._next} actions, and the episode is not.",
                remedy="Take over, or reset.",
            )
        self._next += 1
        return to_action(self._space, self._actions[self._next - 1])
