"""`mosaic runs watch`: one run until it is over, or everything that happens."""

import click
import msgspec

from mosaic.cli import exit_codes, formats
from mosaic.cli.attendance import attend
from mosaic.cli.completions import complete_runs
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json
from mosaic.cli.resuming import tell_how_to_resume
from mosaic.cli.run_result import tell_result
from mosaic.contract.layout import Home
from mosaic.contract.run_events import RunEvent, StateChanged


@click.command()
@click.argument("run", default="last", shell_complete=complete_runs)
@click.option("--all", "all_runs", is_flag=True, help="Tell what happens to any run, for ever.")
@json_option
@home_option
def watch(home: Home, run: str, all_runs: bool, as_json: bool) -> int:
    """Watch a run until it is over. Default: the newest.

    Ctrl-C leaves it alone; a second one stops it. With --json one document comes at the end, and
    with --all one JSON object a line.
    """
    with connected(home) as client:
        if all_runs:
            try:
                with client.watch() as events:
                    for event in events:
                        _tell(event, as_json)
            except KeyboardInterrupt:
                return exit_codes.INTERRUPTED
            return 0
        run_id = client.resolve(run)
        attendance = attend(client, run_id)
        details = client.run(run_id)
        code = tell_result(details, home, interrupted=attendance.interrupted, as_json=as_json)
        tell_how_to_resume(client, details)
        return code


def _tell(event: RunEvent, as_json: bool) -> None:
    kind = type(event.what).__struct_config__.tag
    if as_json:
        what = msgspec.to_builtins(event.what)
        what.pop("manifest_json", None)
        print_json({**msgspec.to_builtins(event), "type": kind, "what": what})
        return
    words = str(kind)
    if isinstance(event.what, StateChanged):
        words = f"{event.what.change.state} {event.what.change.reason}".rstrip()
    click.echo(f"{formats.moment(event.t)}  {formats.short_id(event.run_id)}  {words}")
