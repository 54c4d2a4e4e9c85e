"""`python -m mosaic_worker.thumbnails`, started by the trainer daemon.

Reads one request per line from stdin (`{"request": 1, "env_id": …, "env_kwargs": {…}, "seed": 0}`)
and answers each in order with a `frame` or an `error`. Ends with the daemon.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from typing import Any, NamedTuple

from mosaic_worker.errors import WorkerError
from mosaic_worker.resimulation.messages import MessageWriter
from mosaic_worker.resimulation.requests import die_with_parent, read_json_lines
from mosaic_worker.standard_streams import claim_stdin, claim_stdout
from mosaic_worker.thumbnails.rendering import render_thumbnail

_MAX_MESSAGE_CHARS = 2000


class RenderRequest(NamedTuple):
    """One environment to create, reset and render."""

    number: int
    env_id: str
    env_kwargs: dict[str, Any]
    seed: int


def main() -> int:
    """Answer requests until the daemon is gone; returns the exit code 0."""
    die_with_parent()
    messages = MessageWriter(claim_stdout())
    stdin = claim_stdin()
    if stdin is None:
        return 0
    requests: queue.Queue[RenderRequest] = queue.Queue()
    # In a thread, so that the end of stdin is noticed while an environment hangs.
    arguments = (stdin, lambda fields: requests.put(_parse_request(fields)))
    threading.Thread(target=read_json_lines, args=arguments, name="requests", daemon=True).start()
    try:
        while True:
            _answer(requests.get(), messages)
    except BrokenPipeError:
        return 0


def _parse_request(fields: Any) -> RenderRequest:
    return RenderRequest(
        fields["request"], fields["env_id"], dict(fields["env_kwargs"]), fields["seed"]
    )


def _answer(request: RenderRequest, messages: MessageWriter) -> None:
    try:
        frame = render_thumbnail(request.env_id, request.env_kwargs, request.seed)
    except WorkerError as error:
        messages.error(_shorten(error.message), _shorten(error.remedy))
    except Exception as error:  # noqa: BLE001 - third-party code may raise anything
        traceback.print_exc()
        messages.error(
            _shorten(f"{request.env_id} failed: {type(error).__name__}: {error}"),
            "Correct the environment or its settings; the traceback is in the daemon's log.",
        )
    else:
        messages.frame(request.number, 0, frame)


def _shorten(text: str) -> str:
    """Messages of an environment may be long, and contain lone surrogates."""
    return text[:_MAX_MESSAGE_CHARS].encode("utf-8", "replace").decode("utf-8")


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # skip clean-up of the environment, which may hang
