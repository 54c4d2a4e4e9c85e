"""`python -m gym_gui.app`: the window as a process of its own. Started by `mosaic gui`."""

import argparse
import gc
import sys
from pathlib import Path

from mosaic.contract.layout import Home


def main() -> int:
    parser = argparse.ArgumentParser(prog="mosaic gui", description="The window of MOSAIC.")
    parser.add_argument("--home", type=Path, default=None, help="where everything is kept")
    parser.add_argument("--run", default="", help="a run to open")
    parser.add_argument("--play", default="", metavar="ENV_ID", help="an environment to begin with")
    parser.add_argument("--no-daemon", action="store_true", help="do not start a daemon")
    arguments = parser.parse_args()
    gc.disable()  # what start-up makes is there to stay; `UiCollection` collects afterwards
    from gym_gui.app.start_up import StartupOptions, run_window  # noqa: PLC0415 - --help needs no Qt

    return run_window(
        Home.locate(arguments.home),
        StartupOptions(
            run_id=arguments.run, env_id=arguments.play, starts_daemon=not arguments.no_daemon
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
