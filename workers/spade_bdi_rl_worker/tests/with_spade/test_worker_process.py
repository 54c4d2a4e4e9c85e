"""The worker process as the trainer starts it, with external failures."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from worker_runs import WorkerRuns

from mosaic_worker.testing import WorkerProcess

HERE = Path(__file__).parent
_LISTENING = "0A"


def listening_ports() -> set[int]:
    """Return the ports on which any process of the machine listens."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return {
        int(line.split()[1].split(":")[1], 16) for line in lines if line.split()[3] == _LISTENING
    }


class WorkerProcessTest(WorkerRuns):
    def server(self, *arguments: str) -> tuple[subprocess.Popen[str], int]:
        """Start an XMPP server in another process; return it and its port."""
        server = subprocess.Popen(
            [sys.executable, HERE / "standalone_server.py", *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return server, int(server.stdout.readline())

    def test_two_workers_at_once(self) -> None:
        """Each has its own server, and they do not interfere."""
        workers = [
            self.worker(name, max_episodes=300, params={"team": "coach", "xmpp": "embedded"})
            for name in ("one", "two")
        ]
        ports = set()
        for worker in workers:
            self.assertEqual(worker.wait(), 0, worker.log.read_text()[-2000:])
            self.assertEqual(worker.events("bye")[-1]["outcome"], "succeeded")
            ports.add(self.port_of(worker))
        self.assertEqual(len(ports), 2)

    def test_killed(self) -> None:
        """No process and no listening port is left."""
        worker = self.worker(params={"team": "pair", "xmpp": "embedded"})
        port = self.port_of(worker)
        self.assertIn(port, listening_ports())
        children = Path(
            f"/proc/{worker.process.pid}/task/{worker.process.pid}/children"
        ).read_text()

        worker.signal(signal.SIGKILL)
        worker.wait()

        self.assertEqual(children, "")
        self.assertNotIn(port, listening_ports())

    def test_stopped(self) -> None:
        """A stop in the middle of a batch ends the run as cancelled, with a checkpoint."""
        worker = self.worker(params={"xmpp": "embedded", "batch_episodes": 1_000_000})
        port = self.port_of(worker)
        worker.wait_for("metric")

        worker.send("stop")

        self.assertEqual(worker.wait(), 0)
        self.assertEqual(worker.events("bye")[-1]["outcome"], "cancelled")
        self.assertTrue(worker.events("artifact"))
        self.assertNotIn(port, listening_ports())

    def test_paused(self) -> None:
        """A pause in the middle of a batch, and then a stop by signal."""
        worker = self.worker(params={"batch_episodes": 1_000_000})
        worker.wait_for("metric")
        worker.send("pause")
        worker.wait_for("status", state="paused")

        worker.signal(signal.SIGTERM)

        self.assertEqual(worker.wait(), 0)
        self.assertEqual(worker.events("bye")[-1]["outcome"], "cancelled")

    def test_accounts_are_created_if_the_server_allows_it(self) -> None:
        """A coach and a learner communicate through the server of another process."""
        _, port = self.server("register")

        worker = self.worker(
            max_episodes=300, params={"team": "coach", "xmpp": f"localhost@127.0.0.1:{port}"}
        )

        self.assertEqual(worker.wait(), 0, worker.log.read_text()[-2000:])
        self.assertEqual(worker.events("bye")[-1]["outcome"], "succeeded")

    def test_a_server_without_registration(self) -> None:
        """The error says how to use an existing account."""
        _, port = self.server()

        worker = self.worker(params={"xmpp": f"localhost@127.0.0.1:{port}"})

        self.assertIn("MOSAIC_XMPP_PASSWORD", self.failure(worker)["remedy"])

    def test_the_server_is_killed_during_the_run(self) -> None:
        """The run fails with a reason, and keeps the learned table."""
        arguments = ("mine-learner", "secret", "mine-coach", "secret")
        server, port = self.server(*arguments)
        os.environ.update(MOSAIC_XMPP_ACCOUNT="mine", MOSAIC_XMPP_PASSWORD=arguments[1])
        self.addCleanup(os.environ.pop, "MOSAIC_XMPP_ACCOUNT")
        self.addCleanup(os.environ.pop, "MOSAIC_XMPP_PASSWORD")
        worker = self.worker(params={"team": "coach", "xmpp": f"localhost@127.0.0.1:{port}"})
        worker.wait_for("metric")

        server.kill()

        self.assertIn("lost its connection to the XMPP server", self.failure(worker)["error"])
        self.assertTrue(worker.events("artifact"))

    def test_no_server(self) -> None:
        """It is reported before the training starts."""
        worker = self.worker(params={"xmpp": "127.0.0.1:1"})

        bye = self.failure(worker)

        self.assertIn("127.0.0.1:1 cannot be reached", bye["error"])
        self.assertEqual(worker.events("episode"), [])

    def test_the_environment_raises(self) -> None:
        """An exception in an action has the plan's line; the traceback is in the log."""
        worker = self.worker(env_id="raising_environment:Breaking-v0")

        bye = self.failure(worker)

        self.assertRegex(bye["error"], r"learner\.asl, line \d+: .*ZeroDivisionError")
        self.assertIn("raising_environment.py", worker.log.read_text())

    def test_broken_plans(self) -> None:
        """The error has the location of the mistake."""
        plans = self.folder / "mine.asl"
        plans.write_text("+!train(N)\n   <- .learn(.\n")

        bye = self.failure(self.worker(params={"asl": str(plans)}))

        self.assertIn("mine.asl, line 2", bye["error"])

    def test_user_mistakes_have_no_traceback(self) -> None:
        """The message is sufficient."""
        plans = self.folder / "mine.asl"
        plans.write_text("+!train(N) : bach(B)\n   <- .learn(B).\n")
        mistakes: dict[str, dict[str, Any]] = {
            "Unknown environment FrozenLak-v1": {"env_id": "FrozenLak-v1"},
            "no argument 'is_slipery'": {"env_kwargs": {"is_slipery": False}},
            "mine.asl, line 1 (+!train/1): `bach(B)`": {"params": {"asl": str(plans)}},
        }
        for number, (message, fields) in enumerate(mistakes.items()):
            with self.subTest(message):
                worker = self.worker(f"run-{number}", **fields)

                self.assertIn(message, self.failure(worker)["error"])
                self.assertNotIn("Traceback", worker.log.read_text())

    def port_of(self, worker: WorkerProcess) -> int:
        """Return the port of its server, from the log line when the agents are ready."""
        ready = worker.wait_for("log", code="W292")
        match = re.search(r"127\.0\.0\.1:(\d+)", ready["message"])
        assert match is not None
        return int(match[1])


if __name__ == "__main__":
    unittest.main()
