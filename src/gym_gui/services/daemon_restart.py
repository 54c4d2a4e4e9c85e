"""Starting the daemon of a home again, for settings that it asks for once. Runs go on meanwhile."""

from mosaic.client.daemon_process import start_daemon, stop_daemon
from mosaic.contract.layout import Home


def restart_daemon(home: Home) -> None:
    """Waits until another one answers: to be called on a thread."""
    stop_daemon(home)
    start_daemon(home)
