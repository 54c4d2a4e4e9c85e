"""Latency from key press to frame: an action in LunarLander-v3 at a 20 ms tick.

    benchmarks/run key_to_frame [--keys N]

The session is controlled through the daemon by a `SessionController`, as in the window, and by
writing directly to the control pipe of a worker. Both alternate, with the other one paused; keys
are pressed at random times within a tick. The latency ends when the frame file, read as in the
window, has a frame with the action's number.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from cached_bundles import daemon_with_bundle
from report import percentile, print_table

from mosaic.client import TrainerClient
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import SessionPhase
from mosaic.contract.frame_file import FrameReader
from mosaic.contract.layout import Home

_TICK_MS = 20
_TURNS = 10
_ACTIONS = (1, 2, 3)
_POLL_INTERVAL_S = 0.0003
_TIMEOUT_S = 60.0
_BETWEEN_KEYS_S = (0.03, 0.08)
_GOALS = ("p50 15 or less", "p99 35 or less")
_SETTLING_S = 0.5


class Game(Protocol):
    """A session that is played directly or through the daemon."""

    frames: Path

    def act(self, action: int) -> None: ...

    def set_paused(self, is_paused: bool) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keys", type=int, default=60, help="Key presses per round. Default: 60.")
    keys = parser.parse_args().keys
    with daemon_with_bundle() as (client, home), SessionController(client) as controller:
        through = ThroughDaemon(controller, home)
        with direct_game(client, home, controller.state.run_id) as direct:
            games: dict[str, Game] = {"through the daemon": through, "directly": direct}
            show(measure(games, keys))
        controller.stop()


def measure(games: dict[str, Game], keys: int) -> dict[str, list[float]]:
    """Return the milliseconds of each key press of each variant."""
    latencies_ms: dict[str, list[float]] = {variant: [] for variant in games}
    for _ in range(_TURNS):
        for variant, game in games.items():
            game.set_paused(False)
            time.sleep(_SETTLING_S)
            with FrameReader(game.frames) as reader:
                latencies_ms[variant] += [press(game, reader) for _ in range(keys)]
            game.set_paused(True)
    return latencies_ms


def press(game: Game, reader: FrameReader) -> float:
    """Return the milliseconds from the key press until a frame shows it."""
    time.sleep(random.uniform(*_BETWEEN_KEYS_S))
    before = newest(reader)
    start = time.perf_counter()
    game.act(random.choice(_ACTIONS))
    while time.perf_counter() - start < _TIMEOUT_S:
        if newest(reader) > before:
            return (time.perf_counter() - start) * 1_000
        time.sleep(_POLL_INTERVAL_S)
    raise TimeoutError("no frame carried the action")


_seen: dict[FrameReader, tuple[int, int]] = {}


def newest(reader: FrameReader) -> int:
    """Return the number of the newest command that a frame shows."""
    number, seq = _seen.get(reader, (0, 0))
    frame = reader.newest(number)
    if frame is not None:
        number, seq = frame.number, frame.control_seq
        _seen[reader] = number, seq
    return seq


class ThroughDaemon:
    """Plays through the daemon, as the window does."""

    def __init__(self, controller: SessionController, home: Home) -> None:
        self._controller = controller
        request = SessionRequest(env_id="LunarLander-v3", params={"tick_ms": _TICK_MS})
        controller.start(request)
        state = controller.wait(lambda state: state.phase is SessionPhase.RUNNING, _TIMEOUT_S)
        self.frames = home.run(state.run_id).frames
        self.set_paused(True)

    def act(self, action: int) -> None:
        self._controller.act(action)

    def set_paused(self, is_paused: bool) -> None:
        expected = SessionPhase.PAUSED if is_paused else SessionPhase.RUNNING
        (self._controller.pause if is_paused else self._controller.resume)()
        self._controller.wait(lambda state: state.phase is expected, _TIMEOUT_S)


class Directly:
    """Plays with the same worker directly through its control pipe."""

    def __init__(self, folder: Path, pipe: int) -> None:
        self.frames = folder / "frames"
        self._pipe = pipe
        self._seq = 0

    def act(self, action: int) -> None:
        self._send(cmd="action", value=action)

    def set_paused(self, is_paused: bool) -> None:
        self._send(cmd="pause" if is_paused else "resume")

    def _send(self, **command: object) -> None:
        self._seq += 1
        os.write(self._pipe, json.dumps({**command, "seq": self._seq}).encode() + b"\n")


@contextmanager
def direct_game(client: TrainerClient, home: Home, run_id: str) -> Iterator[Directly]:
    """A worker with the configuration, the packages and the sources of the run."""
    details = client.run(run_id)
    assert details.bundle is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.mkfifo(folder / "control")
        pipe = os.open(folder / "control", os.O_RDWR)
        environment = {
            **os.environ,
            "PYTHONPATH": str(home.path / details.bundle.code_path),
            "MOSAIC_RUN_DIR": name,
            "MOSAIC_RUN_ID": run_id,
        }
        with (folder / "telemetry.jsonl").open("ab") as spool:
            worker = subprocess.Popen(
                details.command, stdin=pipe, stdout=spool, env=environment, cwd=folder
            )
        game = Directly(folder, pipe)
        try:
            wait_until(game.frames)
            game.set_paused(True)
            yield game
        finally:
            worker.kill()
            worker.wait()
            os.close(pipe)


def wait_until(path: Path) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the worker drew nothing")
        time.sleep(0.05)


def show(latencies_ms: dict[str, list[float]]) -> None:
    rows: list[tuple[object, ...]] = [
        (variant, percentile(ms, 0.5), percentile(ms, 0.99), max(ms), len(ms))
        for variant, ms in latencies_ms.items()
    ]
    head = ("ms from key to frame", "p50", "p99", "most", "keys")
    print_table(f"LunarLander-v3 at a {_TICK_MS} ms tick", head, rows)
    print(f"goal through the daemon: {', '.join(_GOALS)}")


if __name__ == "__main__":
    main()
