"""Restarts the daemon, for settings that it reads at start. Runs continue."""

from mosaic.contract.layout import Home


def restart_daemon(home: Home) -> None:
    """Blocks until the new daemon answers; call on a thread."""
    from mosaic.client import daemon_process  # noqa: PLC0415 - brings gRPC

    daemon_process.stop_daemon(home)
    daemon_process.start_daemon(home)
