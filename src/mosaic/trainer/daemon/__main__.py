"""`python -m mosaic.trainer.daemon`: see `startup.py` for its options."""

import logging
import os
import sys

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, create_private_folder
from mosaic.trainer.daemon.disk_reserve import release_reserve
from mosaic.trainer.daemon.startup import DaemonLog, Invocation, ReadinessPipe, parse
from mosaic.trainer.daemon_settings import load_settings

_log = logging.getLogger(__name__)

# gRPC's core writes to stderr by default; the variable can still enable that.
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
        # The log keeps what the stderr of a background process loses.
        _log.critical("T399 the daemon crashed because of a bug", exc_info=True)
        raise
    return 0


def _run(invocation: Invocation, readiness: ReadinessPipe) -> None:
    home = invocation.home
    _create(home)
    was_full = release_reserve(home)
    settings = load_settings(home.settings, invocation.settings)
    log = DaemonLog(home, foreground=invocation.ready_fd is None)
    if was_full:
        _log.warning("T165 the disk is full: the disk reserve was released to start")
    # Not at the top: errors above are reported before gRPC and everything else is loaded.
    from mosaic.trainer.daemon.process import run_daemon  # noqa: PLC0415

    run_daemon(home, settings, log, readiness)


def _create(home: Home) -> None:
    _check_path(home)
    try:
        for folder in (home.path, home.trainer, home.logs):
            create_private_folder(folder)
        # Earlier versions created these with the permissions of the user's other files.
        for folder in (home.logs, home.exports, home.cache, home.presets):
            if folder.is_dir() and not folder.is_symlink():
                folder.chmod(0o700)
    except OSError as error:
        raise UserError(
            f"The home {home.path} cannot be created: {error.strerror}.",
            remedy="Choose another folder with --home DIR, or set MOSAIC_HOME.",
            code="T398",
        ) from error


def _check_path(home: Home) -> None:
    """Raise `UserError` for a path that a run could not be started in."""
    path = os.fsencode(home.path).decode(errors="replace")
    if os.pathsep in path:
        reason = f"it contains '{os.pathsep}', which separates folders in PATH and PYTHONPATH"
    elif path != str(home.path):
        reason = "it is not valid UTF-8"
    else:
        return
    raise UserError(
        f"The folder {path} cannot be a home: {reason}.",
        remedy="Choose another folder with --home DIR, or set MOSAIC_HOME.",
        code="T482",
    )


if __name__ == "__main__":
    sys.exit(main())
