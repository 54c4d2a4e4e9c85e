"""Nothing but telemetry reaches standard output, and nobody else eats commands."""

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
emitter.emit("result", child=child.stdout.decode().strip(), eaten=sys.stdin.read())
"""


EMITS_ONE_LINE = """
import os
from mosaic_worker import Control, Emitter
emitter = Emitter()
Control(emitter).start()
emitter.emit("x")
os.write(2, b"done")
"""


def run(script: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", script], input=stdin, capture_output=True, timeout=60, check=True
    )


class StandardStreamsTest(unittest.TestCase):
    def test_stray_prints_go_to_stderr(self) -> None:
        """Python's print, a write to fd 1 and a child's output never enter the stream."""
        done = run(PRINTS_EVERYWHERE)
        kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
        self.assertEqual(kinds, ["first", "second"])
        for stray in (b"from python", b"from C", b"no newline", b"from a child"):
            self.assertIn(stray, done.stderr)

    def test_children_inherit_neither_stream_nor_control(self) -> None:
        """The private copies close on exec, and fd 0 is empty for everyone else."""
        done = run(COUNTS_INHERITED, stdin=b'{"cmd": "stop", "seq": 1}\n')
        self.assertEqual(json.loads(done.stdout), {"type": "result", "child": "[]", "eaten": ""})

    def test_closed_standard_streams_are_survived(self) -> None:
        """A worker started without stdin or stdout runs all the same."""
        for closed in ("0<&-", "1>&-", "0<&- 1>&-"):
            with self.subTest(closed=closed):
                done = subprocess.run(
                    ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, EMITS_ONE_LINE],
                    capture_output=True,
                    timeout=60,
                    check=True,
                )
                self.assertEqual(done.stderr, b"done")
                self.assertEqual(done.stdout, b"" if "1>" in closed else b'{"type":"x"}\n')


if __name__ == "__main__":
    unittest.main()
