"""The process that sends data to Weights & Biases, so that training never waits for it.

`wandb_run` starts it and writes JSON lines to its stdin: first the request, then values. It answers
with JSON lines: `warning` (a message) and `started` (id, folder and URL). At the end of its input
it finishes the run, also if training was killed. The API key comes from the environment and is
never part of a line.
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TextIO

KEY_VARIABLE = "WANDB_API_KEY"
PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")
PROXIES_WITH_PASSWORD = ("WANDB_VPN_HTTPS_PROXY", "WANDB_VPN_HTTP_PROXY")
"""A proxy URL with a password comes from the environment, not from the run's configuration."""

_SERVER = "https://api.wandb.ai"
_PORTS = {"http": 80, "https": 443}
_CONNECT_TIMEOUT_S = 3.0
_INIT_TIMEOUT_S = 20.0
_FINISH_TIMEOUT_S = 25.0


class AnswerWriter:
    """Writes JSON lines to the training process; output of wandb goes to stderr instead."""

    def __init__(self) -> None:
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def warn(self, message: str) -> None:
        key = os.environ.get(KEY_VARIABLE)
        self._write({"warning": message.replace(key, "[key]") if key else message})

    def started(self, run: Any) -> None:
        address = None if run.offline else run.url
        self._write({"started": {"run_id": run.id, "path": run.settings.sync_dir, "url": address}})

    def _write(self, answer: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(answer) + "\n")
        self._stream.flush()


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # the training process decides when to end
        signal.signal(number, signal.SIG_IGN)
    answers = AnswerWriter()
    request = json.loads(sys.stdin.readline())
    try:
        run = _start(request, answers)
        answers.started(run)
        for step, values in merge_steps(sys.stdin):
            run.log({**values, "global_step": step}, step=step)
        run.finish()
    except Exception as error:  # noqa: BLE001 - top level of the process
        answers.warn(f"Weights & Biases stopped tracking: {_error_text(error)}")
        sys.exit(1)


def merge_steps(lines: TextIO) -> Iterable[tuple[int, dict[str, float]]]:
    """Merge all values of a step, because W&B has one row per step.

    It drops late rows, so values of an earlier step are added to the newest one.
    """
    current_step = 0
    merged: dict[str, float] = {}
    for line in lines:
        step, values = json.loads(line)
        if step > current_step and merged:
            yield current_step, merged
            merged = {}
        current_step = max(current_step, step)
        merged.update(values)
    if merged:
        yield current_step, merged


def _start(request: Mapping[str, Any], answers: AnswerWriter) -> Any:
    """Start online if possible, otherwise offline with a warning."""
    reason = "" if request["mode"] == "offline" else offline_reason()
    if request["mode"] == "offline" or reason:
        if reason:
            _warn_offline(answers, reason, request)
        return _init(request, "offline")
    import wandb  # noqa: PLC0415 - slow to import

    try:
        return _init(request, "online")
    except wandb.Error as error:
        _warn_offline(answers, f"the server rejected the run: {_error_text(error)}", request)
        wandb.teardown()
        return _init(request, "offline")


def offline_reason() -> str:
    """Why W&B cannot be used online; empty if there is a key and the server answers."""
    if not os.environ.get(KEY_VARIABLE):
        return f"{KEY_VARIABLE} is not set"
    server = urlsplit(os.environ.get("WANDB_BASE_URL") or _SERVER)
    host = server.hostname or ""
    proxy = None if proxy_bypass(host) else getproxies().get(server.scheme)
    endpoint = urlsplit(proxy) if proxy else server
    address = (endpoint.hostname or "", endpoint.port or _PORTS.get(endpoint.scheme, 443))
    outcome: list[str] = []
    # In a thread, because name resolution has no timeout.
    attempt = threading.Thread(target=lambda: outcome.append(_try_connect(address)), daemon=True)
    attempt.start()
    attempt.join(_CONNECT_TIMEOUT_S)
    problem = outcome[0] if outcome else "no answer"
    through = f" through the proxy {address[0]}" if proxy else ""
    return f"{host} cannot be reached{through} ({problem})" if problem else ""


def _try_connect(address: tuple[str, int]) -> str:
    """Why the connection failed; empty if it succeeded."""
    try:
        socket.create_connection(address, timeout=_CONNECT_TIMEOUT_S).close()
    except OSError as error:
        return error.strerror or _error_text(error)
    return ""


def _init(request: Mapping[str, Any], mode: Any) -> Any:
    import wandb  # noqa: PLC0415 - slow to import

    settings = wandb.Settings(
        mode=mode,
        console="off",
        silent=True,
        disable_git=True,
        init_timeout=_INIT_TIMEOUT_S,
        finish_timeout=_FINISH_TIMEOUT_S,
        x_stats_pid=request["pid"],
    )
    return wandb.init(
        project=request["project"],
        entity=request["entity"],
        name=request["name"],
        group=request["group"],
        config=request["config"],
        dir=request["directory"],
        settings=settings,
    )


def _warn_offline(answers: AnswerWriter, reason: str, request: Mapping[str, Any]) -> None:
    folder = f"{request['directory']}/wandb/offline-run-*"
    answers.warn(
        f"Weights & Biases runs offline, because {reason}. Upload it later with"
        f" `wandb sync {folder}`."
    )


def _error_text(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__


def wandb_environment(proxy: str | None) -> dict[str, str]:
    """The environment of the W&B process, with the proxy if the run has one."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "WANDB_ERROR_REPORTING": "false",
        "WANDB_SILENT": "true",
    }
    if proxy:
        environment.update(proxy_variables(proxy))
    return environment


def proxy_variables(proxy: str) -> dict[str, str]:
    """The proxy under all variable names; a URL with a password from the environment wins."""
    named = (os.environ.get(name) for name in PROXIES_WITH_PASSWORD)
    return dict.fromkeys(PROXY_VARIABLES, next(filter(None, named), proxy))


if __name__ == "__main__":
    main()
