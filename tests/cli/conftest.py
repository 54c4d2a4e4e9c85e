"""`mosaic` as a person runs it: a process of its own, on a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.layout import Home
from tests.trainer.conftest import DaemonUnderTest

DEADLINE_S = 120


class Mosaic:
    """The command line, for one home. Whatever it started is ended with `clean_up`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / "home")

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "mosaic.cli.main", *arguments]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "MOSAIC_HOME": str(self.home.path), "COLUMNS": "80"}

    def __call__(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
            env=self.environment,
            cwd=self.folder,
        )

    def ok(self, *arguments: str) -> str:
        """What a command that must succeed prints."""
        done = self(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        """The one document that a command that must succeed prints."""
        return json.loads(self.ok(*arguments, "--json"))

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """A command to be interrupted."""
        return subprocess.Popen(
            # A shell in the background starts its children with SIGINT ignored.
            ["env", "--default-signal=INT", *self.command(*arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=self.folder,
            **options,
        )

    def train(self, *arguments: str) -> Any:
        """A run of the echo worker to its end, as a document."""
        return self.json("train", "echo_worker", "--env", "Echo-v0", *arguments)

    def clean_up(self) -> None:
        DaemonUnderTest(self.folder).clean_up()


@pytest.fixture
def mosaic(tmp_path: Path) -> Iterator[Mosaic]:
    """On a home where nothing has happened yet."""
    made = Mosaic(tmp_path)
    try:
        yield made
    finally:
        made.clean_up()


@pytest.fixture(scope="module")
def shared_mosaic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosaic]:
    """With a daemon that runs, for tests that leave each other's runs alone."""
    made = Mosaic(tmp_path_factory.mktemp("shared"))
    try:
        made.ok("daemon", "start", "--port", "0")
        yield made
    finally:
        made.clean_up()
