"""`python -m gym_gui.app`: the window process. Started by `mosaic gui`."""

import argparse
import gc
import sys
from pathlib import Path

from mosaic.contract.layout import Home


def main() -> int:
    parser = argparse.ArgumentParser(prog="mosaic gui", description="The window of MOSAIC.")
    parser.add_argument(
        "--home", type=Path, default=None, help="directory of runs, settings and logs"
    )
    parser.add_argument("--run", default="", help="run to open")
    parser.add_argument("--play", default="", metavar="ENV_ID", help="environment to play")
    parser.add_argument("--no-daemon", action="store_true", help="do not start a daemon")
    arguments = parser.parse_args()
    gc.disable()  # objects of start-up live until exit; `UiCollection` collects later
    from gym_gui.app.start_up import StartupOptions, run_window  # noqa: PLC0415 - --help needs no Qt

    return run_window(
        Home.locate(arguments.home),
        StartupOptions(
            run_id=arguments.run, env_id=arguments.play, starts_daemon=not arguments.no_daemon
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
