"""Every check and test in one go, with a summary at the end. Started by ./test."""

from __future__ import annotations

import argparse
import os
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
        Check("tests", (*run_module, "pytest", "-n", "auto", *selected, *pytest_arguments)),
    ]


def passes(check: Check) -> bool:
    """Runs one check with its output going straight to the terminal."""
    print(f"\n── {check.name} ──", flush=True)
    return subprocess.run(check.command, cwd=ROOT, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="./test", usage=USAGE)
    parser.add_argument("--quick", action="store_true", help="leave out tests that start processes")
    parser.add_argument(
        "pytest_arguments", nargs="*", help="after `--`: arguments for pytest alone"
    )
    arguments = parser.parse_args()

    # A check that starts programs by name finds those of this environment.
    os.environ["PATH"] = f"{SCRIPTS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    started = time.monotonic()
    try:
        results = [
            (check.name, passes(check))
            for check in checks(arguments.quick, arguments.pytest_arguments)
        ]
    except KeyboardInterrupt:
        return 130

    failed = [name for name, passed in results if not passed]
    print(f"\n── summary, {time.monotonic() - started:.0f} s ──")
    for name, passed in results:
        print(f"{'passed' if passed else 'FAILED'}  {name}")
    print(f"\nFailed: {', '.join(failed)}." if failed else "\nAll checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
