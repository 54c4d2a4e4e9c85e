"""Weights & Biases without its package: rows, keys, servers and proxies."""

from __future__ import annotations

import io
import json
import os
import socket
import unittest
from unittest import mock

from mosaic_worker.tracking.wandb_process import merge_steps, offline_reason, wandb_environment

KEY = "0123456789abcdef0123456789abcdef01234567"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class RowTest(unittest.TestCase):
    def test_values_of_a_step_are_one_row(self) -> None:
        """Lines of a step are merged; late values are added to the newest row."""
        sent = [(1, {"a": 1.0}), (1, {"b": 2.0}), (5, {"a": 3.0}), (4, {"c": 4.0}), (6, {"a": 5.0})]
        lines = io.StringIO("".join(json.dumps(row) + "\n" for row in sent))
        rows = list(merge_steps(lines))
        self.assertEqual(
            rows, [(1, {"a": 1.0, "b": 2.0}), (5, {"a": 3.0, "c": 4.0}), (6, {"a": 5.0})]
        )


class OfflineReasonTest(unittest.TestCase):
    def setUp(self) -> None:
        environment = {name: value for name, value in os.environ.items() if "WANDB" not in name}
        self.environment = {
            name: value
            for name, value in environment.items()
            if not name.lower().endswith("_proxy")
        }

    def reason(self, **variables: str) -> str:
        with mock.patch.dict(os.environ, {**self.environment, **variables}, clear=True):
            return offline_reason()

    def test_online_needs_a_key_and_a_server(self) -> None:
        """If one is missing, it is the reason."""
        self.assertIn("WANDB_API_KEY is not set", self.reason())
        closed_port_url = f"http://127.0.0.1:{free_port()}"
        self.assertIn(
            "127.0.0.1 cannot be reached",
            self.reason(WANDB_API_KEY=KEY, WANDB_BASE_URL=closed_port_url),
        )
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            self.assertEqual(self.reason(WANDB_API_KEY=KEY, WANDB_BASE_URL=url), "")

    def test_a_proxy_is_used_only_when_the_run_names_one(self) -> None:
        """A proxy with a password comes from the environment, and is not set for the training."""
        vpn = f"http://127.0.0.1:{free_port()}"
        variables = {**self.environment, "WANDB_API_KEY": KEY, "WANDB_VPN_HTTPS_PROXY": vpn}
        with mock.patch.dict(os.environ, variables, clear=True):
            named = wandb_environment("http://named.invalid:1")
            self.assertNotIn("HTTPS_PROXY", wandb_environment(None))
            self.assertNotIn("HTTPS_PROXY", os.environ)
        self.assertIn("through the proxy 127.0.0.1", self.reason(**named))


if __name__ == "__main__":
    unittest.main()
