"""The daemon's own command line: `python -m mosaic.trainer.daemon --home DIR`.

People use `mosaic daemon start` and `mosaic daemon run`, which start this.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mosaic.contract.layout import Home

_HELP = {
    "host": ("ADDRESS", "where to listen; anything but loopback needs TLS"),
    "port": ("N", "port to listen on; 0: any that is free"),
    "tls_certificate": ("FILE", "PEM file of the certificate chain"),
    "tls_key": ("FILE", "PEM file of its key"),
    "max_runs": ("N", "how many runs may have a process at once"),
    "cpus": ("N", "how many CPUs runs may ask for together"),
    "memory_mb": ("N", "how much memory runs may ask for together"),
    "stop_grace_s": ("SECONDS", "between asking a run to stop and ending it"),
    "stalled_after_s": ("SECONDS", "without a heartbeat for so long, a run gets a warning"),
    "min_free_disk_mb": ("N", "with less than this on the disk no run is started"),
}
_TYPES: dict[str, type] = {
    "host": str,
    "tls_certificate": str,
    "tls_key": str,
    "stop_grace_s": float,
    "stalled_after_s": float,
}


@dataclass(frozen=True, slots=True)
class Invocation:
    """What the command line asks for."""

    home: Home
    ready_fd: int | None
    settings: dict[str, Any]
    """By the names of `DaemonSettings`; None where the command line is silent."""


def parse(arguments: Sequence[str] | None = None) -> Invocation:
    """Exits with 2 and a usage line when the arguments make no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m mosaic.trainer.daemon",
        description="Serve a home in the foreground until SIGTERM or SIGINT; runs outlive it.",
        allow_abbrev=False,
    )
    parser.add_argument("--home", metavar="DIR", help="the home ($MOSAIC_HOME, or ./var)")
    parser.add_argument(
        "--ready-fd",
        type=int,
        metavar="N",
        help="descriptor for one line: `ready ADDRESS` or `error JSON`; no log on stderr then",
    )
    for name, (metavar, text) in _HELP.items():
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, type=_TYPES.get(name, int), metavar=metavar, help=text)
    given = vars(parser.parse_args(arguments))
    return Invocation(Home.locate(given.pop("home")), given.pop("ready_fd"), given)
