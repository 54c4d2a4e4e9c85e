"""Starting the daemon of a home again, for settings that it asks for once. Runs go on meanwhile."""

from mosaic.contract.layout import Home


def restart_daemon(home: Home) -> None:
    """Waits until another one answers: to be called on a thread."""
    from mosaic.client import daemon_process  # noqa: PLC0415 - brings gRPC

    daemon_process.stop_daemon(home)
    daemon_process.start_daemon(home)
