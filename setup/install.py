"""Makes, updates or repairs a checkout's virtual environment. Started by launch.sh.

Everything said here goes to stderr, so that `./mosaic … --json` stays one document on stdout.
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

STILL_WORKING_EVERY_S = 30


class SetupError(Exception):
    """The set-up cannot go on: what happened, and what to do about it."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def set_up(environment: Environment, chosen_by_hand: bool) -> None:
    """Returns with the environment ready; may be started twice at once or killed at any moment."""
    python = os.path.realpath(sys.executable)
    environment.state.mkdir(exist_ok=True)
    with only_one(environment.state / "lock") as lock:
        made_for = None if chosen_by_hand else environment.made_for()
        snapshot = environment.snapshot(made_for[1] if made_for else python)
        if environment.is_ready(snapshot):
            return
        started = time.monotonic()
        environment.remove_discarded()
        make_way(environment, wanted_python=python if chosen_by_hand else None)
        if not environment.venv.exists():
            snapshot = Snapshot(python, snapshot.inputs)
        install(environment, snapshot, lock)
        qt_libraries.provide(say)
        environment.mark_ready(snapshot)
        say(f"Ready in {time.monotonic() - started:.0f} s.")


@contextmanager
def only_one(path: Path) -> Iterator[int]:
    """Holds the lock that keeps a second set-up of this checkout waiting."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up of this checkout is running: waiting for it to finish.")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def make_way(environment: Environment, wanted_python: str | None) -> None:
    """Leaves an environment that can be brought up to date in place, or none."""
    name = environment.venv.name
    if not environment.venv.exists() and not environment.venv.is_symlink():
        say(f"Setting up {environment.venv}: a minute or two, mostly downloads.")
    elif not environment.is_ours():
        kept = environment.set_aside()
        say(f"{name} was not made by MOSAIC: kept as {kept}. Making a new one: a minute or two.")
    elif reason := environment.reason_to_rebuild(wanted_python):
        say(f"Making {name} anew, because {reason}: a minute or two.")
        environment.discard()
    elif environment.was_ready():
        say(f"Bringing {name} up to date, because what it is installed from changed.")
    else:
        say(f"Adding to {name} what the {environment.profile} profile needs: half a minute.")


def install(environment: Environment, snapshot: Snapshot, lock: int) -> None:
    fresh = not environment.venv.exists()
    environment.mark_unfinished()
    log_path = environment.state / "install.log"
    with log_path.open("w", encoding="utf-8") as log:
        if fresh:
            say(f"  Python {sys.version.split()[0]} from {snapshot.python}")
            say("  making the virtual environment")
            run([snapshot.python, "-m", "venv", str(environment.venv)], log, lock)
        say(f"  installing {count_pins(snapshot)} pinned packages (pip's output: {log_path})")
        python = str(environment.python)
        pip = [python, "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
        files = [f"--requirement={environment.root / name}" for name in environment.requirements]
        run([*pip, *files], log, lock)
        say("  installing this checkout")
        local = [f"--editable={environment.root / folder}" for folder in LOCAL_DISTRIBUTIONS]
        run([*pip, "--no-deps", "--no-build-isolation", *local], log, lock)


def count_pins(snapshot: Snapshot) -> int:
    texts = [text.decode() for name, text in snapshot.inputs if name.endswith(".txt")]
    return len({line.split()[0] for line in "\n".join(texts).splitlines() if "==" in line})


def run(command: list[str], log: TextIO, lock: int) -> None:
    """Runs one step into the log.

    The step inherits the lock: if this process is killed, the next set-up waits for the orphan.
    """
    # Another Python's modules on the path would make pip believe that something is installed.
    foreign = {"PYTHONPATH", "PYTHONHOME"}
    environ = {name: value for name, value in os.environ.items() if name not in foreign}
    log.write(f"$ {shlex.join(command)}\n")
    log.flush()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environ, pass_fds=[lock]
    ) as step:
        try:
            wait_patiently(step)
        except BaseException:
            step.terminate()
            raise
    if step.returncode != 0:
        raise SetupError(
            f"the set-up failed at `{' '.join(command[1:4])}`{last_errors(Path(log.name))}",
            "Check the network, the free disk space and any PIP_* settings, then start again.\n"
            f"The full output is in {log.name}",
        )


def wait_patiently(step: subprocess.Popen[bytes]) -> None:
    started = time.monotonic()
    while True:
        try:
            step.wait(STILL_WORKING_EVERY_S)
        except subprocess.TimeoutExpired:
            say(f"  … still working, {time.monotonic() - started:.0f} s so far")
        else:
            return


def last_errors(log_path: Path) -> str:
    lines = log_path.read_text("utf-8", errors="replace").splitlines()
    # pip's own errors, and the last line of a traceback from a build that it started
    errors = [line.strip() for line in lines if re.match(r"\s*(ERROR|[\w.]+Error): ", line)]
    # A package that "cannot be found" was often only not asked for: the network is the cause.
    unreachable = [m[1] for line in lines if (m := re.search(r"connection broken by '(.*)'", line))]
    if unreachable:
        errors = [*errors[:1], f"The package index cannot be reached: {unreachable[-1][:120]}"]
    return "".join(f"\n  {line}" for line in (errors or lines)[-3:])


def end_on_sigterm(_number: int, _frame: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


def main() -> int:
    parser = argparse.ArgumentParser(description="Sets up the virtual environment of a checkout.")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True)
    parser.add_argument("--profile", required=True)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, end_on_sigterm)
    environment = Environment(arguments.root, arguments.venv, arguments.profile)
    try:
        set_up(environment, chosen_by_hand=bool(os.environ.get("MOSAIC_PYTHON")))
    except KeyboardInterrupt:
        say("\nSet-up interrupted. The next start takes it up again.")
        return 130
    except SetupError as error:
        say(f"MOSAIC: {error}\n{error.remedy}")
        return 1
    except OSError as error:
        say(f"MOSAIC: the set-up cannot write or read what it needs: {error}")
        say(
            f"Make sure that you may write to {environment.root} and that it has free space, "
            "then start again."
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
