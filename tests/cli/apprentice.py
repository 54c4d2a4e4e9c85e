"""`mosaic` on a home that knows the apprentice, a worker of tests."""

import contextlib
import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from mosaic.cli.main import main
from tests.cli.conftest import Mosaic

WORKER = "apprentice_worker"


class MosaicInside(Mosaic):
    """In this process: many commands, and no second for the start of each."""

    def __call__(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
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


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@contextlib.contextmanager
def with_apprentice(folder: Path) -> Iterator[Mosaic]:
    """A daemon runs; all of it is ended at the end."""
    made = MosaicInside(folder)
    made.home.trainer.mkdir(parents=True, mode=0o700)
    workers = Path(__file__).parent / "workers"
    made.home.settings.write_text(f"worker_folders = [{json.dumps(str(workers))}]\n")
    try:
        made.ok("daemon", "start", "--port", "0")
        yield made
    finally:
        made.clean_up()
