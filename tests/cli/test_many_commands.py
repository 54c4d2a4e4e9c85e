"""Thousands of short commands, each in its own process, exit."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice

import pytest

from mosaic.contract.layout import Home
from tests.support.mosaic_cli import Mosaic
from tests.support.stuck_tests import report_progress

pytestmark = [pytest.mark.process, pytest.mark.timeout(0)]  # each command has a limit

COMMANDS = (
    ("replay", "last", "0", "--verify", "--json"),
    ("telemetry", "last", "steps", "--count", "3", "--json"),
    ("telemetry", "last", "metrics", "--json"),
    ("runs", "logs", "last", "--json"),
    ("runs", "watch", "last", "--json"),
    ("runs", "show", "last", "--json"),
)
"""Most of them open streams, which use threads of gRPC."""
AT_ONCE = 2


@pytest.fixture(scope="module")
def played(shared_mosaic: Mosaic, give_session_bundle: Callable[[Home], None]) -> Mosaic:
    """With an episode that can be replayed."""
    give_session_bundle(shared_mosaic.home)
    shared_mosaic.ok("play", "FrozenLake-v1", "--actor", "random", "--episodes", "1", "--json")
    return shared_mosaic


def run(mosaic: Mosaic, count: int) -> None:
    def exit_code(command: tuple[str, ...]) -> int:
        try:
            done = mosaic.process(*command)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{' '.join(command)} printed and did not exit") from error
        report_progress()
        assert done.stdout, done.stderr
        return done.returncode

    with ThreadPoolExecutor(AT_ONCE) as pool:
        codes = list(pool.map(exit_code, islice(cycle(COMMANDS), count)))
    assert set(codes) == {0}


def test_each_command_exits(played: Mosaic) -> None:
    """Once each."""
    run(played, len(COMMANDS))


@pytest.mark.repetition
@pytest.mark.parametrize("part", range(10))
def test_five_thousand_commands_exit(played: Mosaic, part: int) -> None:  # noqa: ARG001 - a share
    """A command hung in three of 5,500 calls before it was fixed."""
    run(played, 500)
