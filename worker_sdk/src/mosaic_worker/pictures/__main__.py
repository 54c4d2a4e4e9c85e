"""`python -m mosaic_worker.pictures`, started by the trainer daemon.

Reads one request a line on stdin (`{"request": 1, "env_id": …, "env_kwargs": {…}, "seed": 0}`) and
answers each, in order, with a `frame` or an `error`. It ends when nobody can ask any more.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from typing import Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.pictures.painting import paint
from mosaic_worker.pictures.requests import PictureRequest, read_requests
from mosaic_worker.resimulation.messages import MessageWriter
from mosaic_worker.resimulation.parent import die_with_parent
from mosaic_worker.standard_streams import claim_stdin, claim_stdout

_LONGEST_MESSAGE = 2000


def main() -> int:
    """The exit code: 0, nobody listens any more."""
    die_with_parent()
    messages = MessageWriter(claim_stdout())
    stdin = claim_stdin()
    if stdin is None:
        return 0
    requests: queue.Queue[PictureRequest] = queue.Queue()
    # On a thread, so that the end of stdin is noticed while an environment hangs.
    reading = (stdin, requests.put)
    threading.Thread(target=read_requests, args=reading, name="requests", daemon=True).start()
    try:
        while True:
            _answer(requests.get(), messages)
    except BrokenPipeError:
        return 0


def _answer(request: PictureRequest, messages: MessageWriter) -> None:
    try:
        picture: Any = paint(request.env_id, request.env_kwargs, request.seed)
    except WorkerError as error:
        messages.error(_shortened(error.message), _shortened(error.remedy))
    except Exception as error:  # noqa: BLE001 - an environment may raise anything; the next is fine
        traceback.print_exc()
        messages.error(
            _shortened(f"{request.env_id} failed: {type(error).__name__}: {error}"),
            "Correct the environment or its settings; the traceback is in the daemon's log.",
        )
    else:
        messages.frame(request.number, 0, picture)


def _shortened(text: str) -> str:
    """What an environment says may be of any length, and hold half a character."""
    return text[:_LONGEST_MESSAGE].encode("utf-8", "replace").decode("utf-8")


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # an environment's own clean-up may hang, and nothing here needs it
