"""`python -m mosaic.trainer.daemon`: see `command_line.py` for its options, `process.py` for it."""

import logging
import os
import sys

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.daemon.startup import DaemonLog, Invocation, ReadinessPipe, parse
from mosaic.trainer.settings import load_settings

_log = logging.getLogger(__name__)

# gRPC's core writes to stderr of its own accord; whoever wants that can still ask for it.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")


def main() -> int:
    invocation = parse()
    os.umask(0o077)
    readiness = ReadinessPipe(invocation.ready_fd)
    try:
        _run(invocation, readiness)
    except UserError as error:
        readiness.failed(error)
        sys.stderr.write(f"{error}\n")
        return 1
    except Exception:
        # The edge of the process: the log keeps what stderr of a background process loses.
        _log.critical("T399 the daemon ended by a bug", exc_info=True)
        raise
    return 0


def _run(invocation: Invocation, readiness: ReadinessPipe) -> None:
    home = invocation.home
    _make(home)
    settings = load_settings(home.settings, invocation.settings)
    log = DaemonLog(home, foreground=invocation.ready_fd is None)
    # Not at the top: what is wrong above is told before gRPC and all the rest is loaded.
    from mosaic.trainer.daemon.process import run_daemon  # noqa: PLC0415

    run_daemon(home, settings, log, readiness)


def _make(home: Home) -> None:
    try:
        for folder in (home.path, home.trainer, home.logs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"The home {home.path} cannot be made: {error.strerror}.",
            remedy="Choose another place with --home DIR, or set MOSAIC_HOME.",
            code="T398",
        ) from error


if __name__ == "__main__":
    sys.exit(main())
