"""The process that talks to Weights & Biases, so that the training never waits for it.

`wandb_run` starts it and writes JSON lines to its standard input: first what to track, then values.
It answers with JSON lines: `say` (a warning for people) and `started` (id, folder and address). At
the end of its input it finishes the run, also when the training was killed. The key comes from the
environment, and is part of no line.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from mosaic_worker.tracking.wandb_environment import KEY_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TextIO

_SERVER = "https://api.wandb.ai"
_PORTS = {"http": 80, "https": 443}
_REACH_SECONDS = 3.0
_INIT_SECONDS = 20.0
_UPLOAD_SECONDS = 25.0


class Answers:
    """JSON lines to the training; what wandb itself prints goes to standard error instead."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def warn(self, message: str) -> None:
        key = os.environ.get(KEY_VARIABLE)
        self._write({"say": message.replace(key, "[key]") if key else message})

    def started(self, run: Any) -> None:
        address = None if run.offline else run.url
        self._write({"started": {"run_id": run.id, "path": run.settings.sync_dir, "url": address}})

    def _write(self, answer: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(answer) + "\n")
        self._stream.flush()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # the training decides when it is over
        signal.signal(number, signal.SIG_IGN)
    answers = Answers()
    order = json.loads(sys.stdin.readline())
    try:
        run = _start(order, answers)
        answers.started(run)
        for step, values in whole_steps(sys.stdin):
            run.log({**values, "global_step": step}, step=step)
        run.finish()
    except Exception as error:  # noqa: BLE001 - the edge of the process
        answers.warn(f"Weights & Biases has stopped tracking: {_words(error)}")
        sys.exit(1)


def whole_steps(lines: TextIO) -> Iterable[tuple[int, dict[str, float]]]:
    """All values of a step at once, because W&B keeps one row for each.

    It drops rows that come late, so what is told of an earlier step goes to the newest one.
    """
    at = 0
    gathered: dict[str, float] = {}
    for line in lines:
        step, values = json.loads(line)
        if step > at and gathered:
            yield at, gathered
            gathered = {}
        at = max(at, step)
        gathered.update(values)
    if gathered:
        yield at, gathered


def _start(order: Mapping[str, Any], answers: Answers) -> Any:
    """Online where that is possible, and offline with the reason where it is not."""
    reason = "" if order["mode"] == "offline" else why_not_online()
    if order["mode"] == "offline" or reason:
        if reason:
            _warn_offline(answers, reason, order)
        return _init(order, "offline")
    import wandb  # noqa: PLC0415 - takes long

    try:
        return _init(order, "online")
    except wandb.Error as error:
        _warn_offline(answers, f"its server did not accept the run: {_words(error)}", order)
        wandb.teardown()
        return _init(order, "offline")


def why_not_online() -> str:
    """Empty when there is a key and a server that answers."""
    if not os.environ.get(KEY_VARIABLE):
        return f"there is no {KEY_VARIABLE} in the environment"
    server = urlsplit(os.environ.get("WANDB_BASE_URL") or _SERVER)
    host = server.hostname or ""
    proxy = None if proxy_bypass(host) else getproxies().get(server.scheme)
    door = urlsplit(proxy) if proxy else server
    address = (door.hostname or "", door.port or _PORTS.get(door.scheme, 443))
    outcome: list[str] = []
    # In a thread, because looking up a name has no time limit of its own.
    attempt = threading.Thread(target=lambda: outcome.append(_connects(address)), daemon=True)
    attempt.start()
    attempt.join(_REACH_SECONDS)
    problem = outcome[0] if outcome else "no answer"
    through = f" through the proxy {address[0]}" if proxy else ""
    return f"{host} cannot be reached{through} ({problem})" if problem else ""


def _connects(address: tuple[str, int]) -> str:
    """Empty when somebody listens there."""
    try:
        socket.create_connection(address, timeout=_REACH_SECONDS).close()
    except OSError as error:
        return error.strerror or _words(error)
    return ""


def _init(order: Mapping[str, Any], mode: Any) -> Any:
    import wandb  # noqa: PLC0415 - takes long

    settings = wandb.Settings(
        mode=mode,
        console="off",
        silent=True,
        disable_git=True,
        init_timeout=_INIT_SECONDS,
        finish_timeout=_UPLOAD_SECONDS,
        x_stats_pid=order["pid"],
    )
    return wandb.init(
        project=order["project"],
        entity=order["entity"],
        name=order["name"],
        group=order["group"],
        config=order["config"],
        dir=order["directory"],
        settings=settings,
    )


def _warn_offline(answers: Answers, reason: str, order: Mapping[str, Any]) -> None:
    folder = f"{order['directory']}/wandb/offline-run-*"
    answers.warn(
        f"Weights & Biases tracks offline, because {reason}. Upload it later with"
        f" `wandb sync {folder}`."
    )


def _words(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__


if __name__ == "__main__":
    main()
