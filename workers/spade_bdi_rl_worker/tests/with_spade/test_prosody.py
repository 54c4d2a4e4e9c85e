"""Prosody as an external server, with the configuration of the user guide."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import unittest
from pathlib import Path
from unittest import mock

from worker_runs import WorkerRuns

from spade_bdi_rl_worker.messaging.embedded_server import self_signed_pem

_DOMAIN = "localhost"
_CONFIGURATION = """\
run_as_root = true
pidfile = "{folder}/prosody.pid"
data_path = "{folder}/data"
log = {{ info = "*console" }}
ssl = {{ key = "{folder}/localhost.pem"; certificate = "{folder}/localhost.pem" }}
interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {port} }}
modules_enabled = {{ "roster", "saslauth", "tls", "disco", "ping", "register" }}
modules_disabled = {{ "s2s"{without} }}
allow_registration = {registers}
c2s_require_encryption = false
VirtualHost "{domain}"
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@unittest.skipUnless(shutil.which("prosody"), "there is no `prosody` on PATH")
class ProsodyTest(WorkerRuns):
    def prosody(
        self, *accounts: str, registers: bool = False, encrypts: bool = True
    ) -> subprocess.Popen[str]:
        """Start Prosody at `self.address`; each account has the password `secret`."""
        home = self.folder / "prosody"
        (home / "data").mkdir(parents=True)
        (home / "localhost.pem").write_bytes(self_signed_pem(_DOMAIN))
        file, port = home / "prosody.cfg.lua", free_port()
        file.write_text(
            _CONFIGURATION.format(
                folder=home,
                port=port,
                domain=_DOMAIN,
                registers=str(registers).lower(),
                without="" if encrypts else ', "tls"',
            )
        )
        for name in accounts:
            arguments = ["prosodyctl", "--config", str(file), "register", name, _DOMAIN, "secret"]
            subprocess.run(arguments, check=True, capture_output=True)
        server = subprocess.Popen(
            ["prosody", "-F", "--config", file], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        message = ""
        while f":{port}" not in message:
            message = server.stdout.readline()
            self.assertTrue(message, "Prosody has ended")
        self.address = f"127.0.0.1:{port}"
        return server

    def use_accounts(self, name: str, password: str) -> None:
        variables = {"MOSAIC_XMPP_ACCOUNT": name, "MOSAIC_XMPP_PASSWORD": password}
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def accounts(self) -> list[str]:
        """Return the accounts of the server, from the names of their files."""
        folder = self.folder / "prosody" / "data" / _DOMAIN / "accounts"
        return sorted(path.stem for path in Path(folder).glob("*.dat"))

    def test_existing_accounts(self) -> None:
        """A coach and a learner use them, encrypted, and keep them."""
        server = self.prosody("lab-learner", "lab-coach")
        self.use_accounts("lab", "secret")

        worker = self.worker(max_episodes=300, params={"team": "coach", "xmpp": self.address})

        self.assertEqual(worker.wait(), 0, worker.log.read_text()[-2000:])
        self.assertEqual(worker.events("bye")[-1]["outcome"], "succeeded")
        self.assertEqual(len(self.accounts()), 2)
        server.terminate()
        message = server.communicate()[0]
        self.assertIn("Authenticated as lab-coach@localhost", message)
        self.assertIn("Stream encrypted", message)

    def test_accounts_of_the_run(self) -> None:
        """Learners that share values create accounts for the run, and remove them afterwards."""
        self.prosody(registers=True)

        worker = self.worker(max_episodes=300, params={"team": "pair", "xmpp": self.address})

        self.assertEqual(worker.wait(), 0, worker.log.read_text()[-2000:])
        beliefs = [belief for line in worker.events("bdi") for belief in line.get("added", ())]
        self.assertTrue([belief for belief in beliefs if belief.startswith("taken_over(")])
        self.assertEqual(self.accounts(), [])

    def test_without_encryption(self) -> None:
        """On loopback a login that hides the password is sufficient."""
        self.prosody(registers=True, encrypts=False)

        worker = self.worker(max_episodes=300, params={"team": "coach", "xmpp": self.address})

        self.assertEqual(worker.wait(), 0, worker.log.read_text()[-2000:])

    def test_wrong_password(self) -> None:
        """The error has a remedy."""
        self.prosody("lab-learner")
        self.use_accounts("lab", "guess")

        worker = self.worker(params={"xmpp": self.address})

        self.assertIn("MOSAIC_XMPP_PASSWORD", self.failure(worker)["remedy"])

    def test_the_server_is_killed_during_the_run(self) -> None:
        """The run fails with a reason, and keeps the learned table."""
        server = self.prosody(registers=True)
        worker = self.worker(params={"team": "coach", "xmpp": self.address})
        worker.wait_for("metric")

        server.kill()

        self.assertIn("lost its connection to the XMPP server", self.failure(worker)["error"])
        self.assertTrue(worker.events("artifact"))


if __name__ == "__main__":
    unittest.main()
