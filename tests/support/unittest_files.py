"""Run unittest files in one process of a bundle's Python, which has no pytest.

    python unittest_files.py TIMEOUT_S FILE...

The packages of a bundle take seconds to import, so files share a process. A test that takes longer
than TIMEOUT_S ends the process with the stacks of all threads, also when it blocks in native code.
Standard library only. `run_unittest_files` starts it from a test.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import subprocess
import sys
import unittest
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TEST_TIMEOUT_S = 100
"""For each test of the files. Below the limit of the test that starts them."""


def run_unittest_files(
    python: Path, files: Sequence[Path], environment: Mapping[str, str], cwd: Path
) -> None:
    """Fails unless every test of `files` passes without a warning."""
    from tests.support.stuck_tests import report_progress  # noqa: PLC0415 - not in a bundle

    lines: list[str] = []
    with subprocess.Popen(
        [python, "-W", "error::UserWarning", __file__, str(TEST_TIMEOUT_S), *files],
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            report_progress()
    assert process.returncode == 0, "".join(lines[-150:])
    for file in files:
        assert f"{file}: 0 tests\n" not in lines


class _Result(unittest.TextTestResult):
    """Prints the name of each test before it runs, and watches over it."""

    timeout_s = TEST_TIMEOUT_S

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        faulthandler.dump_traceback_later(self.timeout_s, exit=True)
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        faulthandler.cancel_dump_traceback_later()
        super().stopTest(test)


def _load(path: Path) -> unittest.TestSuite:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main(timeout_s: str, *files: str) -> int:
    _Result.timeout_s = int(timeout_s)
    passed = True
    for file in files:
        suite = _load(Path(file))
        print(f"{file}: {suite.countTestCases()} tests", flush=True)
        runner = unittest.TextTestRunner(resultclass=_Result, verbosity=2)  # type: ignore[arg-type]
        passed = runner.run(suite).wasSuccessful() and passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
