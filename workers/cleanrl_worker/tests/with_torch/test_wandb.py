"""Tracking with Weights & Biases: the real package, offline, and servers that do not answer."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import socket
import struct
import tempfile
import threading
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from quiet_session import RecordingSink
from wandb_server import WandbServer

from cleanrl_worker.arguments import SessionOptions, SharedArgs
from cleanrl_worker.tracking.trackers import tracking_settings
from mosaic_worker.tracking.wandb_run import start_wandb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mosaic_worker.tracking.wandb_run import WandbRun

HAS_WANDB = importlib.util.find_spec("wandb") is not None
KEY = "0123456789abcdef0123456789abcdef01234567"


class StoppableSink(RecordingSink):
    """A sink that can request a stop."""

    def stop(self) -> None:
        self._stop_at_step = 0


class WandbTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)
        self.sink = StoppableSink(self.directory)
        variables = {name: value for name, value in os.environ.items() if "WANDB" not in name}
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        self.environment = {n: variables[n] for n in variables if n not in proxies}

    def start(self, options: SessionOptions | None = None, **variables: str) -> WandbRun | None:
        with mock.patch.dict(os.environ, {**self.environment, **variables}, clear=True):
            args = SharedArgs(track=True, wandb_project_name="tests")
            settings = tracking_settings(options or SessionOptions(), args, "ppo", "a-run")
            return start_wandb(self.sink, settings)

    def reasons(self) -> str:
        return " ".join(message for _, message in self.sink.messages)

    @unittest.skipUnless(HAS_WANDB, "wandb is not installed (the extra wandb)")
    def test_without_a_key_the_run_is_complete_and_offline(self) -> None:
        """The reason is logged, the folder is announced, and every value is in the file."""
        run = self.start()
        assert run is not None
        for step in range(5):
            run.scalars({"charts/SPS": 100.0 + step}, step)
            run.scalars({"losses/value_loss": float(step)}, step)
        run.finish()
        self.assertIn("WANDB_API_KEY is not set", self.reasons())
        [(kind, path)] = self.sink.artifacts
        self.assertEqual(kind, "wandb")
        self.assertTrue(path.startswith("wandb/offline-run-"))
        [file] = (self.directory / path).glob("run-*.wandb")
        history = list(rows(file))
        self.assertEqual([row["global_step"] for row in history], [0, 1, 2, 3, 4])
        self.assertEqual([row["charts/SPS"] for row in history], [100, 101, 102, 103, 104])
        self.assertEqual([row["losses/value_loss"] for row in history], [0, 1, 2, 3, 4])

    @unittest.skipUnless(HAS_WANDB, "wandb is not installed (the extra wandb)")
    def test_an_unreachable_server_makes_it_offline(self) -> None:
        """Without a delay, and the key is not written anywhere."""
        run = self.start(WANDB_API_KEY=KEY, WANDB_BASE_URL=f"http://127.0.0.1:{free_port()}")
        assert run is not None
        run.scalars({"charts/SPS": 1.0}, 1)
        run.finish()
        self.assertIn("127.0.0.1 cannot be reached", self.reasons())
        self.assertIn("offline-run-", self.sink.artifacts[0][1])
        written = [file.read_bytes() for file in self.directory.rglob("*") if file.is_file()]
        self.assertTrue(written)
        self.assertFalse([content for content in written if KEY.encode() in content])
        self.assertNotIn(KEY, self.reasons())

    @unittest.skipUnless(HAS_WANDB, "wandb is not installed (the extra wandb)")
    def test_online_values_reach_the_server(self) -> None:
        """Its URL is announced, and no warning is logged."""
        with WandbServer() as server:
            run = self.start(WANDB_API_KEY=KEY, WANDB_BASE_URL=server.address)
            assert run is not None
            for step in (10, 20):
                run.scalars({"charts/SPS": 5.0 * step}, step)
            run.finish()
        self.assertEqual(self.sink.messages, [])
        (_, path), (kind, url) = self.sink.artifacts
        run_id = path.rpartition("-")[2]
        self.assertEqual((kind, url), ("wandb", f"{server.address}/me/tests/runs/{run_id}"))
        logged = [(row["global_step"], row["charts/SPS"]) for row in server.history]
        self.assertEqual(logged, [(10, 50.0), (20, 100.0)])
        self.assertEqual(server.config["env_id"]["value"], "CartPole-v1")

    @unittest.skipUnless(HAS_WANDB, "wandb is not installed (the extra wandb)")
    def test_a_rejected_key_makes_it_offline(self) -> None:
        """The server's error is the reason."""
        with RejectingServer() as server:
            run = self.start(WANDB_API_KEY=KEY, WANDB_BASE_URL=server.address)
            assert run is not None
            run.scalars({"charts/SPS": 1.0}, 1)
            run.finish()
        self.assertIn("rejected the run", self.reasons())
        self.assertTrue(self.sink.artifacts, self.reasons())
        self.assertIn("offline-run-", self.sink.artifacts[-1][1])

    @unittest.skipUnless(HAS_WANDB, "wandb is not installed (the extra wandb)")
    def test_a_stopped_training_does_not_wait_for_a_silent_server(self) -> None:
        """A server that accepts and never answers costs a few seconds at most."""
        with SilentServer() as server:
            run = self.start(WANDB_API_KEY=KEY, WANDB_BASE_URL=server.address)
            assert run is not None
            server.wait_for_request()
            self.sink.stop()
            run.finish()
        self.assertIn("did not finish within 5 s", self.reasons())

    @unittest.skipUnless(HAS_WANDB, "wandb is not installed (the extra wandb)")
    def test_requested_offline_mode_has_no_warning(self) -> None:
        """It is what the user chose."""
        run = self.start(SessionOptions(wandb_mode="offline"), WANDB_API_KEY=KEY)
        assert run is not None
        run.finish()
        self.assertEqual(self.sink.messages, [])
        self.assertEqual(len(self.sink.artifacts), 1)

    def test_a_missing_package_names_the_extra(self) -> None:
        """The training continues, and the warning names what to install."""
        with mock.patch("importlib.util.find_spec", return_value=None):
            self.assertIsNone(self.start())
        self.assertIn("install the extra `wandb` of the bundle cleanrl_worker", self.reasons())


class Server(threading.Thread):
    """Listens on a local port, and handles each connection with `answer`."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._calls: list[socket.socket] = []
        self._called = threading.Event()

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self.join()
        self._listener.close()
        for call in self._calls:
            call.close()

    def run(self) -> None:
        while True:
            try:
                call, _ = self._listener.accept()
            except OSError:
                return
            self._calls.append(call)
            threading.Thread(target=self._serve, args=(call,), daemon=True).start()

    def wait_for_request(self) -> None:
        """Wait for a request after the first probe."""
        if not self._called.wait(60):
            raise AssertionError("no request arrived")

    def answer(self, call: socket.socket) -> None:
        raise NotImplementedError

    def _serve(self, call: socket.socket) -> None:
        try:
            while call.recv(65536):
                self._called.set()
                self.answer(call)
        except OSError:
            return


class SilentServer(Server):
    def answer(self, call: socket.socket) -> None:
        pass


class RejectingServer(Server):
    def answer(self, call: socket.socket) -> None:
        body = b'{"errors": [{"message": "invalid key"}]}'
        header = f"HTTP/1.1 401 Unauthorized\r\nContent-Length: {len(body)}\r\n"
        call.sendall(header.encode() + b"Content-Type: application/json\r\n\r\n" + body)


def rows(file: Path) -> Iterator[dict[str, float]]:
    """The history in W&B's own file."""
    proto: Any = importlib.import_module("wandb.proto.wandb_internal_pb2")
    for data in records(file.read_bytes()):
        record = proto.Record.FromString(data)
        if record.WhichOneof("record_type") == "history":
            yield {
                item.key or "/".join(item.nested_key): json.loads(item.value_json)
                for item in record.history.item
            }


def records(content: bytes) -> Iterator[bytes]:
    """Yield the records of a LevelDB log: fragments with a header, in blocks of 32 KiB."""
    offset, record = 7, b""
    while offset + 7 <= len(content):
        size, kind = struct.unpack_from("<HB", content, offset + 4)
        if offset % 32768 > 32768 - 7:
            offset += 32768 - offset % 32768
            continue
        record += content[offset + 7 : offset + 7 + size]
        offset += 7 + size
        if kind in (1, 4):  # a complete record, or its last fragment
            yield record
            record = b""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    unittest.main()
