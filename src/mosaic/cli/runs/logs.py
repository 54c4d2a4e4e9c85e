"""`mosaic runs logs`: what a run's worker has printed."""

import click

from mosaic.cli import exit_codes
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option, run_argument
from mosaic.cli.output import print_json, say
from mosaic.contract.layout import Home


@click.command()
@run_argument
@click.option("--follow", "-f", is_flag=True, help="Go on until the run is over.")
@click.option(
    "--tail", type=click.IntRange(0), default=0, help="Begin so many lines before the end."
)
@json_option
@home_option
def logs(home: Home, run: str, follow: bool, tail: int, as_json: bool) -> int:
    """What a run's worker has printed, beside its telemetry.

    With --json it is one document with all lines, and with --follow one JSON object a line.
    """
    with connected(home) as client:
        run_id = client.resolve(run)
        with client.logs(run_id, follow=follow, tail_lines=tail) as lines:
            if as_json and not follow:
                print_json({"run_id": run_id, "lines": list(lines)})
                return 0
            is_empty = True
            try:
                for line in lines:
                    is_empty = False
                    if as_json:
                        print_json({"run_id": run_id, "line": line})
                    else:
                        click.echo(line)
            except KeyboardInterrupt:
                return exit_codes.INTERRUPTED
            if is_empty:
                say("It has printed nothing.")
    return 0
