"""Runs every check and test, and prints a summary. Started by ./test."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from test_run import Limits, run_tests

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(sys.executable).parent

USAGE = """./test [--quick | --all] [-- PYTEST_ARGUMENT ...]

  ./test                      format, lint, types, imports, the documentation site and all tests
  ./test --quick              the same without the tests that start real processes
  ./test --all                the same with more seeds, kills and repetitions
  ./test -- -k spool -x       the same, with these arguments for pytest"""


# More processes than cores: many tests wait for processes that they started. A process without
# tests left steals some from another one: some take half a minute each.
_PROCESSES = len(os.sched_getaffinity(0)) + 3
_DISTRIBUTION = ("-n", str(_PROCESSES), "--dist", "worksteal")


_TOTAL_ALL_S = 3 * 3600.0


@dataclass(frozen=True)
class Check:
    name: str
    command: tuple[str, ...]


def static_checks() -> list[Check]:
    run_module = (sys.executable, "-m")
    return [
        Check("format", (*run_module, "ruff", "format", "--check")),
        Check("lint", (*run_module, "ruff", "check")),
        Check("types", (*run_module, "mypy")),
        Check("imports", (str(SCRIPTS / "lint-imports"), "--no-logo")),
        Check("site", (*run_module, "mkdocs", "build", "--strict", "--quiet")),
    ]


def pytest_command(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pytest", *_DISTRIBUTION, *arguments)


@dataclass(frozen=True)
class Result:
    name: str
    passed: bool
    seconds: float
    output: str = ""

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}  {self.name:8} {self.seconds:4.0f} s"


def run(check: Check) -> Result:
    started = time.monotonic()
    finished = subprocess.run(
        check.command,
        cwd=ROOT,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output = finished.stdout.decode(errors="replace")
    return Result(check.name, finished.returncode == 0, time.monotonic() - started, output)


def run_and_report(check: Check) -> Result:
    """Print the output of a failed check as soon as it is known, also while tests run."""
    result = run(check)
    if not result.passed:
        print(f"\n── {result.name} ──\n{result.output}", flush=True)
    return result


def install_bundles() -> Result:
    """Install the workers' bundles: minutes the first time, a second afterwards."""
    print("── bundles ──", flush=True)
    return run_and_report(Check("bundles", (sys.executable, "-m", "tests.support.bundles")))


def run_pytest(command: tuple[str, ...], limits: Limits) -> Result:
    print("── tests ──", flush=True)
    started = time.monotonic()
    code = run_tests(command, ROOT, limits)
    return Result("tests", code == 0, time.monotonic() - started)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./test", usage=USAGE, epilog="Arguments for pytest go after `--`."
    )
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="leave out tests that start processes")
    extent.add_argument("--all", action="store_true", help="add repetitions of the same tests")
    parser.add_argument(
        "pytest_arguments", nargs="*", help="after `--`: arguments for pytest alone"
    )
    arguments = parser.parse_args()
    selected: tuple[str, ...] = ("-m", "not process") if arguments.quick else ()
    if arguments.all:
        selected = ("--all",)

    # A shell in the background starts us with SIGINT ignored, and what we start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A check that starts programs by name finds those of this environment.
    os.environ["PATH"] = f"{SCRIPTS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    # Otherwise each of the thousands of processes compiles all modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.monotonic()
    results = []
    checks = static_checks()
    print(f"── {', '.join(check.name for check in checks)} ──", flush=True)
    # The slowest of them has one thread, so it runs beside the tests.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        static = [pool.submit(run_and_report, check) for check in checks]
        try:
            if not arguments.quick:
                results.append(install_bundles())
            command = pytest_command(*selected, *arguments.pytest_arguments)
            limits = Limits(total_s=_TOTAL_ALL_S) if arguments.all else Limits()
            results.append(run_pytest(command, limits))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            return 130
    results = [future.result() for future in static] + results

    failed = [result.name for result in results if not result.passed]
    times = os.times()
    cpu_s = times.user + times.system + times.children_user + times.children_system
    print(f"\n── summary, {time.monotonic() - started:.0f} s ({cpu_s:.0f} s of CPU time) ──")
    for result in results:
        print(result)
    print(f"\nFailed: {', '.join(failed)}." if failed else "\nAll checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
