"""Every check and test in one go, with a summary at the end. Started by ./test."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent

USAGE = """./test [--quick] [-- PYTEST_ARGUMENT ...]

  ./test                      format, lint, types, imports and all tests
  ./test --quick              the same without the tests that start real processes
  ./test -- -k spool -x       the same, with these arguments for pytest"""


# One process more than there are cores: many tests wait for processes that they have started. One
# that has run out of tests takes over some of another's: some take half a minute each.
_PROCESSES = len(os.sched_getaffinity(0)) + 1
_SHARED_OUT = ("-n", str(_PROCESSES), "--dist", "worksteal")


@dataclass(frozen=True)
class Check:
    name: str
    command: tuple[str, ...]


def checks(quick: bool, pytest_arguments: list[str]) -> list[Check]:
    run_module = (sys.executable, "-m")
    selected = ("-m", "not process") if quick else ()
    return [
        Check("format", (*run_module, "ruff", "format", "--check")),
        Check("lint", (*run_module, "ruff", "check")),
        Check("types", (*run_module, "mypy")),
        Check("imports", (str(SCRIPTS / "lint-imports"), "--no-logo")),
        Check("tests", (*run_module, "pytest", *_SHARED_OUT, *selected, *pytest_arguments)),
    ]


@dataclass(frozen=True)
class Result:
    name: str
    passed: bool
    seconds: float

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}  {self.name:8} {self.seconds:4.0f} s"


def run(check: Check) -> Result:
    """Tests speak as they go; of the other checks only a failure is worth reading."""
    print(f"── {check.name} ──", flush=True)
    started = time.monotonic()
    finished = subprocess.run(
        check.command,
        cwd=ROOT,
        check=False,
        stdout=None if check.name == "tests" else subprocess.PIPE,
        stderr=None if check.name == "tests" else subprocess.STDOUT,
    )
    if finished.returncode != 0 and finished.stdout:
        sys.stdout.write(finished.stdout.decode(errors="replace"))
    return Result(check.name, finished.returncode == 0, time.monotonic() - started)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./test", usage=USAGE, epilog="Arguments for pytest go after `--`."
    )
    parser.add_argument("--quick", action="store_true", help="leave out tests that start processes")
    parser.add_argument(
        "pytest_arguments", nargs="*", help="after `--`: arguments for pytest alone"
    )
    arguments = parser.parse_args()

    # A shell in the background starts us with SIGINT ignored, and what we start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A check that starts programs by name finds those of this environment.
    os.environ["PATH"] = f"{SCRIPTS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    started = time.monotonic()
    try:
        results = [run(check) for check in checks(arguments.quick, arguments.pytest_arguments)]
    except KeyboardInterrupt:
        return 130

    failed = [result.name for result in results if not result.passed]
    print(f"\n── summary, {time.monotonic() - started:.0f} s ──")
    for result in results:
        print(result)
    print(f"\nFailed: {', '.join(failed)}." if failed else "\nAll checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
