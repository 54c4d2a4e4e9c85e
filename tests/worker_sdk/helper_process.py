"""The helper process of resimulation, controlled as by the daemon."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, Self

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.recording.start_states import capture, prepare_reset

FOLDER = Path(__file__).parent
TIMEOUT_S = 60.0


class Message(NamedTuple):
    """One message of the helper."""

    header: dict[str, Any]
    pixels: bytes

    @property
    def kind(self) -> str:
        return str(self.header["kind"])


class HelperProcess:
    """`python -m mosaic_worker.resimulation` for one record; killed at the end of the block."""

    def __init__(self, folder: Path, record: dict[str, Any], *options: str) -> None:
        path = folder / "recording.json"
        path.write_text(json.dumps(record))
        inherited = os.environ.get("PYTHONPATH")
        with (folder / "helper.log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mosaic_worker.resimulation", str(path), *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, (str(FOLDER), inherited))),
                    "SDL_VIDEODRIVER": "dummy",
                    "MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl"),
                },
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def request_frames(self, request: int, first: int, count: int = 0) -> None:
        assert self.process.stdin is not None
        line = json.dumps({"request": request, "first": first, "count": count})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read_message(self) -> Message | None:
        """Return the next message; None at the end."""
        assert self.process.stdout is not None
        lengths = self.process.stdout.read(8)
        if not lengths:
            return None
        header, body = struct.unpack(">II", lengths)
        return Message(json.loads(self.process.stdout.read(header)), self.process.stdout.read(body))

    def read_until(self, kind: str) -> list[Message]:
        """Return all messages up to the first of this kind, or to the end."""
        messages = []
        while (message := self.read_message()) is not None:
            messages.append(message)
            if message.kind in (kind, "error"):
                break
        return messages

    def read_frames(self, request: int, first: int, count: int = 0) -> dict[int, Message]:
        """Send a request, and return its frames by index."""
        self.request_frames(request, first, count)
        messages = self.read_until("done")
        assert messages[-1].header == {"kind": "done", "request": request}, messages[-1].header
        frames = [
            message
            for message in messages
            if message.kind == "frame" and message.header["request"] == request
        ]
        indices = [frame.header["index"] for frame in frames]
        assert indices == list(range(first, first + len(indices))), "not in order"
        return dict(zip(indices, frames, strict=True))

    def wait(self) -> int:
        return self.process.wait(TIMEOUT_S)


def record_episode(
    env_id: str,
    *,
    steps: int = 40,
    seed: int | None = 3,
    episodes_before: int = 0,
    **env_kwargs: Any,
) -> dict[str, Any]:
    """Record an episode of random actions, as the daemon passes it.

    Without a seed, the start depends on the `episodes_before` of the same environment.
    """
    env = make_environment(env_id, env_kwargs)
    env.action_space.seed(7)
    for _ in range(episodes_before):
        prepare_reset(env)
        env.reset()
        for _ in range(10):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                break
    prepare_reset(env)
    start = capture(env) if seed is None else None
    env.reset(seed=seed)
    actions: list[Any] = []
    rewards: list[float] = []
    terminated = truncated = False
    while len(actions) < steps and not (terminated or truncated):
        action = env.action_space.sample()
        _, reward, terminated, truncated, _ = env.step(action)
        actions.append(action.tolist() if hasattr(action, "tolist") else action)
        rewards.append(float(reward))
    env.close()
    return {
        "env_id": env_id,
        "env_kwargs": env_kwargs,
        "seed": seed,
        "start": start,
        "actions": actions,
        "rewards": rewards,
        "terminated": bool(terminated),
        "truncated": bool(truncated),
        "is_over": bool(terminated or truncated),
        "packages": {},
    }
