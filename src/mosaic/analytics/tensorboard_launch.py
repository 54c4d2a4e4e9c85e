"""Runs TensorBoard until stdin is closed, so that it ends with the process that started it.

A separate script: it runs in any Python that has TensorBoard, and imports nothing of MOSAIC.
PR_SET_PDEATHSIG is not an option: that signal is sent when the parent's thread ends, and the
window's threads are short-lived.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

_GRACE_S = 3.0


def _exit_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # lets TensorBoard clean up
    time.sleep(_GRACE_S)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    threading.Thread(target=_exit_with_stdin, name="exit with stdin", daemon=True).start()
    from tensorboard.main import run_main  # noqa: PLC0415 - slow to import

    sys.argv[0] = "tensorboard"
    run_main()


if __name__ == "__main__":
    main()
