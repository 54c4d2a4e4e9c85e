"""Mosaic: the command line on a home of its own, in this process or in another one."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from mosaic.cli.main import main
from mosaic.contract.layout import Home
from tests.support.daemon import DaemonUnderTest, share_descriptions

DEADLINE_S = 120
_STARTS_DAEMON = ("daemon", "train", "sweep", "evaluate", "demo")


class Mosaic:
    """The command line, for one home. Whatever it started is ended with `clean_up`.

    Calls run in this process: the start of an interpreter takes longer than most commands.
    `process` and `start` run a process of their own, for what depends on one: signals, pipes,
    start-up, and commands that replace their process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / "home")
        self.columns = 80

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "mosaic.cli.main", *arguments]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "MOSAIC_HOME": str(self.home.path), "COLUMNS": str(self.columns)}

    def __call__(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        self._prepare(arguments)
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, self.environment),
            mock.patch("sys.stdin", io.StringIO(stdin)),
        ):
            code = main(arguments)
        return subprocess.CompletedProcess(arguments, code, _written(out), _written(err))

    def process(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """The same in a process of its own."""
        self._prepare(arguments)
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
        self._prepare(arguments)
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

    def _prepare(self, arguments: Sequence[str]) -> None:
        """A command that may start a daemon creates the home anyway."""
        if arguments[:1] and arguments[0] in _STARTS_DAEMON and "status" not in arguments:
            share_descriptions(self.home)

    def clean_up(self) -> None:
        DaemonUnderTest(self.folder).clean_up()


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
