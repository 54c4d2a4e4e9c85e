"""Only telemetry reaches standard output, and only the SDK reads commands."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest

PRINTS_EVERYWHERE = """
import os, subprocess, sys
from mosaic_worker import Emitter
emitter = Emitter()
emitter.emit("first")
print("from python")
os.write(1, b"from C\\n")
sys.stdout.write("no newline")
subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
emitter.emit("second")
"""

COUNTS_INHERITED = """
import os, subprocess, sys
from mosaic_worker import Control, Emitter
emitter = Emitter()
control = Control(emitter)
listing = "import os; print(sorted(set(os.listdir('/proc/self/fd')) - {'0', '1', '2', '3'}))"
child = subprocess.run(
    [sys.executable, "-c", listing], stdout=subprocess.PIPE, close_fds=False, check=True
)
emitter.emit("result", child=child.stdout.decode().strip(), read=sys.stdin.read())
"""


EMITS_ONE_LINE = """
import os
from mosaic_worker import Control, Emitter
emitter = Emitter()
Control(emitter).start()
emitter.emit("x")
os.write(2, b"done")
"""

OPENS_FREE_DESCRIPTORS = """
import os
opened = [os.open(os.devnull, os.O_WRONLY) for _ in range(4)]
"""

TRAINS = """
import os, sys
from mosaic_worker import Algorithm, Descriptor, main
def work(run):
    os.write(2, b"trained")
sys.exit(main(Descriptor("tiny", "Tiny", "1.0", (Algorithm("one", "One"),)), work))
"""


def run(script: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", script], input=stdin, capture_output=True, timeout=60, check=True
    )


def run_without(closed: str, script: str, *flags: str) -> subprocess.CompletedProcess[bytes]:
    """Run the script with the shell redirections `closed`, which close streams."""
    command = f'script=$1; shift; exec "$0" -c "$script" "$@" {closed}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, script, *flags],
        capture_output=True,
        timeout=60,
        check=False,
    )


class StandardStreamsTest(unittest.TestCase):
    def test_stray_prints_go_to_stderr(self) -> None:
        """Python's print, writes to fd 1 and a child's output are not mixed with telemetry."""
        result = run(PRINTS_EVERYWHERE)
        kinds = [json.loads(line)["type"] for line in result.stdout.splitlines()]
        self.assertEqual(kinds, ["first", "second"])
        for stray in (b"from python", b"from C", b"no newline", b"from a child"):
            self.assertIn(stray, result.stderr)

    def test_children_inherit_neither_telemetry_nor_control(self) -> None:
        """The private copies close on exec, and fd 0 is empty for other code."""
        result = run(COUNTS_INHERITED, stdin=b'{"cmd": "stop", "seq": 1}\n')
        self.assertEqual(json.loads(result.stdout), {"type": "result", "child": "[]", "read": ""})

    def test_a_worker_runs_with_a_closed_stdin(self) -> None:
        """It has no control channel."""
        result = run_without("0<&-", EMITS_ONE_LINE)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, b"done")
        self.assertEqual(result.stdout, b'{"type":"x"}\n')

    def test_a_closed_stdout_is_an_error(self) -> None:
        """Telemetry would be lost, or written into another open file."""
        for closed in ("1>&-", "0<&- 1>&-", "1>&- 2>&-"):
            for script in (TRAINS, OPENS_FREE_DESCRIPTORS + TRAINS):
                with self.subTest(closed=closed, script=script):
                    result = run_without(closed, script, "--config", "/dev/null")
                    self.assertEqual(result.returncode, 1)
                    if "2>" not in closed:
                        self.assertIn(b"tiny: Standard output is closed", result.stderr)
                        self.assertNotIn(b"trained", result.stderr)

    def test_describe_works_with_a_closed_stdout(self) -> None:
        """The exit code is 0."""
        self.assertEqual(run_without("1>&-", TRAINS, "--describe").returncode, 0)


if __name__ == "__main__":
    unittest.main()
