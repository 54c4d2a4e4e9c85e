"""Staying with a run until it is over, and what Ctrl-C means meanwhile.

The first Ctrl-C leaves the run alone and says how to come back. A second one, soon after, stops the
run; where a person is at the keyboard it asks before.
"""

import os
import select
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import click

from mosaic.cli.formats import short_id
from mosaic.cli.output import say
from mosaic.cli.run_view import RunView
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

SECOND_CTRL_C_VARIABLE = "MOSAIC_SECOND_CTRL_C_S"
"""Environment variable: how many seconds a second Ctrl-C may come after the first one."""
_SECOND_CTRL_C_S = 6.0


class Attendance(NamedTuple):
    """How it ended: the run as it was last seen, and whether Ctrl-C came first."""

    run: RunRecord
    interrupted: bool


class LiveView(Protocol):
    """Shows a run as it is now, again and again."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def show(self, run: RunRecord) -> None: ...


def attend(
    client: "TrainerClient", run_id: str, make_view: Callable[[], LiveView] = RunView
) -> Attendance:
    """Show the run until it is over, or until a person leaves."""
    try:
        return Attendance(follow(client, run_id, make_view), interrupted=False)
    except KeyboardInterrupt:
        pass
    window_s = float(os.environ.get(SECOND_CTRL_C_VARIABLE, _SECOND_CTRL_C_S))
    if _comes_again(
        f"The run goes on. Come back with `mosaic runs watch {short_id(run_id)}`;"
        f" Ctrl-C again within {window_s:.0f} s to stop it.",
        window_s,
    ) and (not _is_interactive() or _wants_to_stop()):
        client.cancel(run_id, reason="Stopped with Ctrl-C.")
        return Attendance(follow(client, run_id, make_view), interrupted=True)
    return Attendance(client.run(run_id).run, interrupted=True)


def follow(
    client: "TrainerClient", run_id: str, make_view: Callable[[], LiveView] = RunView
) -> RunRecord:
    """Show the run until it is over."""
    with make_view() as view, client.watch(run_ids=[run_id], digests=True) as events:
        run = client.run(run_id).run
        view.show(run)
        while not run.state.is_final:
            event = next(events)
            run = event.run or client.run(run_id).run  # a deleted run is an error from here
            view.show(run)
    return run


def _comes_again(message: str, window_s: float) -> bool:
    """Whether there is another Ctrl-C within the time; Enter on a terminal ends the waiting."""
    pressed, press = os.pipe()
    # No exception meanwhile: it could strike anywhere, and the second Ctrl-C would be lost.
    previous = signal.signal(signal.SIGINT, lambda *_: os.write(press, b"!"))
    try:
        say(message)
        awaited = [pressed, sys.stdin] if _is_interactive() else [pressed]
        return pressed in select.select(awaited, [], [], window_s)[0]
    finally:
        signal.signal(signal.SIGINT, previous)
        os.close(pressed)
        os.close(press)


def _wants_to_stop() -> bool:
    try:
        return click.confirm("\nStop the run?", err=True)
    except click.Abort:
        return False


def _is_interactive() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
