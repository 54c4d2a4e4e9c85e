"""Creates, updates or repairs a checkout's virtual environment. Started by launch.sh.

All messages go to stderr, so that `./mosaic … --json` stays one document on stdout.
Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import qt_libraries
from environment import LOCAL_DISTRIBUTIONS, Environment, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUS_INTERVAL_S = 30


class SetupError(Exception):
    """The set-up failed; `remedy` says what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def print_status(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def set_up(environment: Environment, is_python_requested: bool) -> None:
    """Make the environment ready. Safe to run twice at once, and to kill at any time."""
    python = os.path.realpath(sys.executable)
    environment.state.mkdir(exist_ok=True)
    with hold_lock(environment.state / "lock") as lock:
        installed_for = None if is_python_requested else environment.installed_for()
        snapshot = environment.snapshot(installed_for[1] if installed_for else python)
        if environment.is_ready(snapshot):
            return
        started = time.monotonic()
        environment.remove_discarded()
        prepare(environment, requested_python=python if is_python_requested else None)
        if not environment.venv.exists():
            snapshot = Snapshot(python, snapshot.inputs)
        install(environment, snapshot, lock)
        qt_libraries.install_missing(print_status)
        environment.mark_ready(snapshot)
        print_status(f"Ready in {time.monotonic() - started:.0f} s.")


@contextmanager
def hold_lock(path: Path) -> Iterator[int]:
    """Hold the lock; a second set-up of this checkout waits for it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print_status("Another set-up of this checkout is running: waiting for it to finish.")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def prepare(environment: Environment, requested_python: str | None) -> None:
    """Leave an environment that can be updated in place, or none."""
    name = environment.venv.name
    if not environment.venv.exists() and not environment.venv.is_symlink():
        print_status(f"Setting up {environment.venv}: a minute or two, mostly downloads.")
    elif not environment.is_ours():
        moved_to = environment.set_aside()
        print_status(f"{name} was not created by MOSAIC: moved to {moved_to}.")
        print_status("Creating a new one: a minute or two.")
    elif reason := environment.reason_to_rebuild(requested_python):
        print_status(f"Recreating {name}, because {reason}: a minute or two.")
        environment.discard()
    elif environment.was_ready():
        print_status(f"Updating {name}, because its requirements changed.")
    else:
        print_status(f"Adding the {environment.profile} profile to {name}: half a minute.")


def install(environment: Environment, snapshot: Snapshot, lock: int) -> None:
    is_new = not environment.venv.exists()
    environment.mark_unfinished()
    log_path = environment.state / "install.log"
    with log_path.open("w", encoding="utf-8") as log:
        if is_new:
            print_status(f"  Python {sys.version.split()[0]} from {snapshot.python}")
            print_status("  creating the virtual environment")
            run([snapshot.python, "-m", "venv", str(environment.venv)], log, lock)
        print_status(
            f"  installing {count_pins(snapshot)} pinned packages (pip's output: {log_path})"
        )
        python = str(environment.python)
        pip = [python, "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
        files = [f"--requirement={environment.root / name}" for name in environment.requirements]
        run([*pip, *files], log, lock)
        print_status("  installing this checkout")
        local = [f"--editable={environment.root / folder}" for folder in LOCAL_DISTRIBUTIONS]
        run([*pip, "--no-deps", "--no-build-isolation", *local], log, lock)


def count_pins(snapshot: Snapshot) -> int:
    texts = [text.decode() for name, text in snapshot.inputs if name.endswith(".txt")]
    return len({line.split()[0] for line in "\n".join(texts).splitlines() if "==" in line})


def run(command: list[str], log: TextIO, lock: int) -> None:
    """Run one step, with its output in the log.

    The step inherits the lock: if this process is killed, the next set-up waits for the step.
    """
    # With modules of another Python on the path, pip would consider packages as installed.
    foreign = {"PYTHONPATH", "PYTHONHOME"}
    environ = {name: value for name, value in os.environ.items() if name not in foreign}
    log.write(f"$ {shlex.join(command)}\n")
    log.flush()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ, pass_fds=[lock]
    ) as step:
        try:
            wait_with_status(step)
        except BaseException:
            step.terminate()
            raise
    if step.returncode != 0:
        raise SetupError(
            f"the set-up failed at `{' '.join(command[1:4])}`{last_errors(Path(log.name))}",
            "Check the network, the free disk space and any PIP_* settings, then start again.\n"
            f"The full output is in {log.name}",
        )


def wait_with_status(step: subprocess.Popen[bytes]) -> None:
    started = time.monotonic()
    while True:
        try:
            step.wait(STATUS_INTERVAL_S)
        except subprocess.TimeoutExpired:
            print_status(f"  … still working, {time.monotonic() - started:.0f} s so far")
        else:
            return


def last_errors(log_path: Path) -> str:
    lines = log_path.read_text("utf-8", errors="replace").splitlines()
    # pip's own errors, and the last line of a traceback of a build
    errors = [line.strip() for line in lines if re.match(r"\s*(ERROR|[\w.]+Error): ", line)]
    # pip also reports "not found" when it could not reach the index at all.
    unreachable = [m[1] for line in lines if (m := re.search(r"connection broken by '(.*)'", line))]
    if unreachable:
        errors = [*errors[:1], f"The package index cannot be reached: {unreachable[-1][:120]}"]
    return "".join(f"\n  {line}" for line in (errors or lines)[-3:])


def exit_on_sigterm(_number: int, _frame: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def main() -> int:
    parser = argparse.ArgumentParser(description="Set up the virtual environment of a checkout.")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--profile", required=True)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, exit_on_sigterm)
    environment = Environment(arguments.root, arguments.venv, arguments.profile)
    try:
        set_up(environment, is_python_requested=bool(os.environ.get("MOSAIC_PYTHON")))
    except KeyboardInterrupt:
        print_status("\nSet-up interrupted. Start again to finish it.")
        return 130
    except SetupError as error:
        print_status(f"MOSAIC: {error}\n{error.remedy}")
        return 1
    except OSError as error:
        print_status(f"MOSAIC: the set-up cannot read or write a file: {error}")
        print_status(
            f"Make sure that {environment.root} is writable and has free disk space, "
            "then start again."
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
