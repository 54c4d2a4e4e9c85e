"""Uploading a model to a local server with the hub's protocol."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import socket
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from quiet_session import RecordingSink

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.session.checkpoint import TrainingCheckpoint, read_checkpoint, write_checkpoint
from cleanrl_worker.tracking import hub
from cleanrl_worker.tracking.hub import repository_name, upload_model

HAS_HUB = importlib.util.find_spec("huggingface_hub") is not None
TOKEN = "hf_abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - not a real token


class HubTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)
        self.sink = RecordingSink(self.directory)
        self.server = HubServer()
        self.server.start()
        self.addCleanup(self.server.stop)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        self.environment = {**kept, "HF_ENDPOINT": self.server.address, "HF_HOME": folder.name}

    def upload(self, entity: str = "me", **variables: str) -> None:
        args = SharedArgs(upload_model=True, hf_entity=entity, env_id="ALE/Pong-v5", seed=3)
        with mock.patch.dict(os.environ, {**self.environment, **variables}, clear=True):
            upload_model(self.sink, args, "ppo", "a-run")

    def save(self, name: str, step: int) -> None:
        path = self.directory / "checkpoints" / name
        path.parent.mkdir(exist_ok=True)
        checkpoint = TrainingCheckpoint(
            algo="ppo",
            args={"seed": 3, "learning_rate": 0.001},
            env_id="ALE/Pong-v5",
            env_kwargs={},
            global_step=step,
            observation_space={"type": "box"},
            action_space={"type": "discrete", "n": 6},
            policy={"weight": torch.ones(3)},
            training={"buffer": torch.zeros(1000), "critics": torch.ones(2)},
            random={"torch": torch.zeros(8)},
            returns=[12.5],
        )
        write_checkpoint(checkpoint, path)

    def messages(self) -> str:
        return " ".join(message for _, message in self.sink.messages)

    @unittest.skipUnless(HAS_HUB, "huggingface_hub is not installed (the extra hub)")
    def test_the_best_policy_is_uploaded_with_a_card(self) -> None:
        """Named by environment, algorithm and seed, without the replay buffer."""
        self.save("last.pt", 200)
        self.save("best.pt", 100)
        self.upload(HF_TOKEN=TOKEN)
        self.assertEqual(self.sink.artifacts, [("report", self.server.page)], self.messages())
        self.assertEqual(self.server.created, {"name": "ALE-Pong-v5-ppo-seed3"})
        uploaded = self.directory / "uploaded.pt"
        uploaded.write_bytes(self.server.files["model.pt"])
        checkpoint = read_checkpoint(uploaded)
        self.assertEqual(checkpoint.global_step, 100)
        self.assertEqual(checkpoint.policy["weight"].tolist(), [1, 1, 1])
        self.assertEqual(set(checkpoint.training), {"critics"})
        self.assertEqual(checkpoint.random, {})
        card = self.server.files["README.md"].decode()
        self.assertIn("# ppo on ALE/Pong-v5", card)
        self.assertIn("value: 12.5", card)
        self.assertIn("|learning_rate|0.001|", card)
        self.assertEqual(self.server.tokens, {f"Bearer {TOKEN}"})
        self.assertNotIn(TOKEN, card + self.messages())

    @unittest.skipUnless(HAS_HUB, "huggingface_hub is not installed (the extra hub)")
    def test_a_rejected_token_is_a_warning_with_a_command(self) -> None:
        """The folder is prepared, so that the command uploads it later."""
        self.save("last.pt", 200)
        self.server.rejects = True
        self.upload(HF_TOKEN=TOKEN)
        folder = self.directory / "hub" / "a-run"
        self.assertIn("401", self.messages())
        self.assertIn(f"`hf upload me/ALE-Pong-v5-ppo-seed3 {folder} .`", self.messages())
        self.assertEqual([level for level, _ in self.sink.messages], ["warning"])
        self.assertTrue((folder / "model.pt").exists())

    @unittest.skipUnless(HAS_HUB, "huggingface_hub is not installed (the extra hub)")
    def test_a_timeout_is_a_warning(self) -> None:
        """The upload is abandoned, and the training succeeds."""
        self.save("last.pt", 200)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with mock.patch.object(hub, "UPLOAD_TIMEOUT_S", 3.0):
                self.upload(HF_TOKEN=TOKEN, HF_ENDPOINT=address)
        self.assertIn("it took longer than 3 s", self.messages())

    def test_missing_requirements_are_named(self) -> None:
        """A token, an owner, and a checkpoint."""
        self.upload(HF_TOKEN=TOKEN)
        self.assertIn("No model to upload", self.messages())
        self.save("last.pt", 200)
        self.upload(entity="", HF_TOKEN=TOKEN)
        self.assertIn("`hf_entity`, the user or organisation, is not set", self.messages())
        with mock.patch("importlib.util.find_spec", return_value=None):
            self.upload(HF_TOKEN=TOKEN)
        self.assertIn("install the extra `hub`", self.messages())
        if HAS_HUB:
            self.upload()
            self.assertIn("the environment variable HF_TOKEN is not set", self.messages())
        self.assertEqual(self.server.tokens, set())

    def test_repository_names_are_valid(self) -> None:
        """Ids with a module or namespace have characters that the hub rejects."""
        self.assertEqual(
            repository_name("my.envs:Grid/Big-v0", "dqn", 1), "my.envs-Grid-Big-v0-dqn-seed1"
        )
        self.assertEqual(repository_name("a--b..c-v1", "ppo", 2), "a-b.c-v1-ppo-seed2")


class HubServer(threading.Thread):
    """The parts of the hub for creating a repository and committing small files."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        hub_server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, answer = hub_server.answer(self.path, body, self.headers)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.page = f"{self.address}/me/ALE-Pong-v5-ppo-seed3"
        self.rejects = False
        self.created: dict[str, Any] = {}
        self.files: dict[str, bytes] = {}
        self.tokens: set[str] = set()

    def run(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        self._server.shutdown()
        self.join()
        self._server.server_close()

    def answer(self, path: str, body: bytes, headers: Any) -> tuple[int, dict[str, Any]]:
        self.tokens |= {headers["Authorization"]} if headers["Authorization"] else set()
        if self.rejects:
            return 401, {"error": "Invalid credentials in Authorization header"}
        if path == "/api/repos/create":
            self.created = {"name": json.loads(body)["name"]}
            return 200, {"url": self.page, "name": "me/ALE-Pong-v5-ppo-seed3"}
        if path.endswith("/preupload/main"):
            names = [file["path"] for file in json.loads(body)["files"]]
            modes = {"uploadMode": "regular", "shouldIgnore": False}
            return 200, {"files": [{"path": name, **modes} for name in names]}
        if path.endswith("/commit/main"):
            for line in body.splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    content = base64.b64decode(entry["value"]["content"])
                    self.files[entry["value"]["path"]] = content
            return 200, {
                "commitUrl": f"{self.page}/commit/0123",
                "commitOid": "0123",
                "success": True,
            }
        return 200, {"errors": [], "warnings": []}


if __name__ == "__main__":
    unittest.main()
