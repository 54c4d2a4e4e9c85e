"""`mosaic checkpoints verify`."""

import click
import msgspec

from mosaic.cli import exit_codes, formats
from mosaic.cli.checkpoints.reference import checkpoints_argument, find_checkpoint
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json
from mosaic.contract.layout import Home


@click.command()
@checkpoints_argument
@json_option
@home_option
def verify(home: Home, references: tuple[str, ...], as_json: bool) -> int:
    """Whether the files are what was saved: there, as large, and with the same content.

    The exit code is 1 when one is not.
    """
    with connected(home) as client:
        ids = [find_checkpoint(client, reference).checkpoint_id for reference in references]
        reports = {each: client.verify_checkpoint(each) for each in ids}
    all_ok = all(report.ok for report in reports.values())
    if as_json:
        documents = [
            {"checkpoint_id": each, **msgspec.to_builtins(report)}
            for each, report in reports.items()
        ]
        print_json({"ok": all_ok, "checkpoints": documents})
    else:
        for each, report in reports.items():
            size = formats.size(report.size_bytes)
            click.echo(f"{each}  {f'intact, {size}' if report.ok else ' '.join(report.problems)}")
    return 0 if all_ok else exit_codes.FAILED
