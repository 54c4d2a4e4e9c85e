"""A process with open streams exits."""

import subprocess
import sys
import threading

import pytest

from mosaic.client import TrainerClient
from tests.client.conftest import echo
from tests.support.daemon import DaemonUnderTest, eventually

pytestmark = pytest.mark.process

LEAVES_STREAMS_OPEN = """\
import sys, threading
from mosaic.client import TrainerClient
client = TrainerClient.connect(sys.argv[1])
streams = [client.steps(sys.argv[2], follow=True) for _ in range(8)]
for stream in streams:
    next(stream)
threading.Thread(target=lambda: next(streams[0]), daemon=True).start()
print("read", flush=True)
"""


def grpc_threads() -> list[threading.Thread]:
    """Return the threads of gRPC, which have default names."""
    return [thread for thread in threading.enumerate() if "(_run)" in thread.name]


def test_close_ends_every_thread_of_grpc(daemon: DaemonUnderTest) -> None:
    """Of streams that were read, abandoned, and never read to their end."""
    with TrainerClient.connect(daemon.home) as client:
        run_id = client.submit(echo(steps=100, rate=50)).run_id
        streams = [client.steps(run_id, follow=True) for _ in range(4)]
        for stream in streams:
            next(stream)
        assert grpc_threads()
    eventually(lambda: not grpc_threads())


def test_unreferenced_stream_is_closed(daemon: DaemonUnderTest) -> None:
    """`for step in client.steps(...): break` leaves no call open."""
    with TrainerClient.connect(daemon.home) as client:
        run_id = client.submit(echo(steps=100_000, rate=50)).run_id
        next(client.steps(run_id, follow=True))
        eventually(lambda: not grpc_threads())


def test_process_with_open_streams_exits(daemon: DaemonUnderTest) -> None:
    """Even while another thread waits in one of them."""
    with TrainerClient.connect(daemon.home) as client:
        run_id = client.submit(echo(steps=100_000, rate=50)).run_id
    done = subprocess.run(
        [sys.executable, "-c", LEAVES_STREAMS_OPEN, str(daemon.home.path), run_id],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr
