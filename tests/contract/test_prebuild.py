"""Structs that several threads decode for the first time."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

_MANY_AT_ONCE = """
import json, sys, threading
from mosaic.contract.descriptor import decode_descriptor

sys.setswitchinterval(1e-6)
document = json.dumps({
    "worker": "toy", "version": "1", "modes": ["train"], "environments": {"any": True},
    "algorithms": [{"id": "ppo", "parameters": [{"name": "a", "type": "int", "default": 1}]}],
}).encode()
together = threading.Barrier(8)

def decode():
    together.wait()
    decode_descriptor(document)

threads = [threading.Thread(target=decode) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
_TIMES = 20


def test_threads_that_decode_at_once_do_not_crash() -> None:
    """As in the daemon, which reads the descriptors of all workers in parallel."""
    for _ in range(_TIMES):
        finished = subprocess.run(
            [sys.executable, "-c", _MANY_AT_ONCE], capture_output=True, check=False
        )
        assert finished.returncode == 0, finished.stderr
