"""Run by a Python that has TensorBoard, which need not be ours: TensorBoard, for as long as whoever
started it holds the other end of stdin.

Nothing of ours is imported. A signal from the kernel at the parent's end would not do: it comes
when the parent's thread ends that started this, and the window's threads come and go.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

_GRACE_S = 3.0


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # it tidies up after itself
    time.sleep(_GRACE_S)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    threading.Thread(target=_end_with_stdin, name="end with stdin", daemon=True).start()
    from tensorboard.main import run_main  # noqa: PLC0415 - takes long, and may never end

    sys.argv[0] = "tensorboard"
    run_main()


if __name__ == "__main__":
    main()
