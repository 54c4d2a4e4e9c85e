"""Describing a worker: `python -m MODULE --describe`, before its packages are installed.

With `--script PATH` it describes that script, which it reads and does not run.

It runs with the standard library, its own code and the SDK only, in an empty folder, without
secrets, for a limited time, and none of its processes outlives the call.
"""

import hashlib
import logging
import re
import tempfile
import time
from pathlib import Path

from mosaic import __version__
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.descriptor import DescriptorError, WorkerDescriptor, decode_descriptor
from mosaic.contract.errors import UserError
from mosaic.contract.json_value import MAX_DOCUMENT_BYTES
from mosaic.trainer.processes.process_environment import bare_environment
from mosaic.trainer.processes.watched_process import Stream, run_watched
from mosaic.trainer.workers.found_worker import FoundWorker, SourceTree
from mosaic.trainer.workers.interpreters import Interpreter

DESCRIBE_FAILED = "T133"
"""`--describe` of a worker failed, timed out, or gave an invalid answer."""

SCRIPT_NOT_DESCRIBED = "T452"
"""A worker could not describe a script."""

_TIMEOUT_S = 30.0
_USAGE_ERROR = 2
"""The exit code of a worker that rejects its arguments."""
_MAX_ERROR_BYTES = 16384
_MAX_LINE_LENGTH = 500
_MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']+)'")


def run_describe(
    worker: FoundWorker,
    sdk: SourceTree,
    interpreter: Interpreter,
    limit_s: float = _TIMEOUT_S,
    script: str | None = None,
) -> bytes:
    """The worker's description of itself, or of a run's script. Raises `UserError`.

    It is a complete document; `decode_answer` validates it.
    """
    with tempfile.TemporaryDirectory(prefix="mosaic-describe-") as folder:
        code, empty = Path(folder, "code"), Path(folder, "work")
        empty.mkdir()
        for tree in (*worker.sources, sdk):
            link = code / tree.name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(tree.path.absolute())
        answer = _Answer(limit_s)
        # -S: without installed packages. -B: leaves no files behind.
        command = [interpreter.path, "-S", "-B", "-m", worker.manifest.module, "--describe"]
        if script is not None:
            command += ["--script", script]
        environment = {**bare_environment(), "HOME": folder, "PYTHONPATH": str(code)}
        try:
            exit_code = run_watched(
                command,
                cwd=empty,
                environment=environment,
                on_output=answer.handle_output,
                may_continue=answer.may_continue,
            )
        except OSError as error:
            raise UserError(
                f"{interpreter.path} cannot be started: {error.strerror}.",
                remedy="Repair or install Python.",
                code=DESCRIBE_FAILED,
            ) from error
    if script is not None and exit_code == _USAGE_ERROR:
        raise UserError(
            answer.last_error_line(worker.worker_id),
            remedy=f"`mosaic workers {worker.worker_id} --script {script}` tries again.",
            code=SCRIPT_NOT_DESCRIBED,
        )
    answer.check(exit_code)
    return bytes(answer.out)


class _Answer:
    """The output of the worker, limited in size and time."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._deadline = time.monotonic() + limit_s
        self.out = bytearray()
        self._err = bytearray()

    def handle_output(self, stream: Stream, data: bytes) -> None:
        if stream == "out":
            self.out += data
        else:
            self._err += data
            del self._err[:-_MAX_ERROR_BYTES]

    def may_continue(self) -> bool:
        return len(self.out) <= MAX_DOCUMENT_BYTES and time.monotonic() < self._deadline

    def last_error_line(self, worker_id: str) -> str:
        """The last line on stderr, without the worker's name as a prefix."""
        lines = self._err.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:_MAX_LINE_LENGTH].removeprefix(f"{worker_id}: ") if lines else "nothing"

    def check(self, exit_code: int | None) -> None:
        """Raise when there is no complete answer."""
        if len(self.out) > MAX_DOCUMENT_BYTES:
            raise _describe_error(
                "printed more than the maximum size of a descriptor", "Print only the descriptor."
            )
        if exit_code is None:
            raise _describe_error(
                f"gave no answer within {self._limit_s:g} s",
                "Keep slow imports and the network out of `__main__.py` and the descriptor.",
            )
        if exit_code != 0:
            last = self.last_error_line("")
            missing = _MISSING_MODULE.match(last)
            raise _describe_error(
                f"failed with exit code {exit_code}: {last}",
                f"It must work before any package is installed: import {missing[1]} inside `work`."
                if missing
                else "Run it by hand to see its output, and correct the worker.",
            )


def decode_answer(worker: FoundWorker, answer: bytes) -> WorkerDescriptor:
    """The descriptor in an answer of this worker. Raises `UserError`."""
    try:
        descriptor = decode_descriptor(answer, f"of {worker.worker_id}")
    except DescriptorError as error:
        raise UserError(error.message, remedy=error.remedy, code=DESCRIBE_FAILED) from error
    if descriptor.worker != worker.worker_id:
        raise _describe_error(
            f"has the worker id {descriptor.worker}, and its manifest has {worker.worker_id}",
            "Use the same id in both.",
        )
    return descriptor


def _describe_error(what: str, remedy: str) -> UserError:
    return UserError(f"`--describe` {what}.", remedy=remedy, code=DESCRIBE_FAILED)


_log = logging.getLogger(__name__)

MAX_FILES = 200
"""Every change of a worker adds a file. The oldest files are removed."""


class DescriptionCache:
    """Answers to `--describe` in one folder, by the content of the worker's code.

    A daemon starts no process for a worker that has not changed. Only complete answers are stored.
    A file that cannot be read or written is not an error: the worker is described again. Any number
    of threads and processes may use it at once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, key: str) -> bytes | None:
        """The answer that was stored for `key`."""
        try:
            with self._path(key).open("rb") as file:
                return file.read(MAX_DOCUMENT_BYTES + 1)
        except OSError:
            return None

    def write(self, key: str, answer: bytes) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(self._path(key), answer)
            self._remove_oldest()
        except (OSError, UserError) as error:
            _log.info("T138 a worker's description cannot be cached: %s", error)

    def _path(self, key: str) -> Path:
        # Another version of MOSAIC may read another descriptor out of the same answer.
        return self._folder / f"{hashlib.sha256(f'{__version__} {key}'.encode()).hexdigest()}.json"

    def _remove_oldest(self) -> None:
        by_age = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        for path in by_age[:-MAX_FILES]:
            path.unlink(missing_ok=True)
