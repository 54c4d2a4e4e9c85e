"""`mosaic gui`, and `mosaic` alone: the window."""

import click

from mosaic.cli.options import home_option
from mosaic.cli.window import become_window
from mosaic.contract.layout import Home


@click.command()
@click.option("--run", default="", metavar="RUN", help="Open this run.")
@click.option("--play", default="", metavar="ENV_ID", help="Begin with this environment.")
@click.option("--no-daemon", is_flag=True, help="Only look for a daemon, start none.")
@home_option
def gui(home: Home, run: str, play: str, no_daemon: bool) -> None:
    """Open the window. The daemon is found, or started in the background."""
    arguments = ["--no-daemon"] if no_daemon else []
    if run:
        arguments += ["--run", run]
    if play:
        arguments += ["--play", play]
    become_window(home, *arguments)
