"""The environment variables of a process that tracks with Weights & Biases."""

from __future__ import annotations

import os
import sys

KEY_VARIABLE = "WANDB_API_KEY"
PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")
PROXIES_WITH_PASSWORD = ("WANDB_VPN_HTTPS_PROXY", "WANDB_VPN_HTTP_PROXY")
"""A password has no place in a run's configuration, so that one comes by the environment."""


def wandb_environment(proxy: str | None) -> dict[str, str]:
    """This process's own; the proxy is in it only when the run names one."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "WANDB_ERROR_REPORTING": "false",
        "WANDB_SILENT": "true",
    }
    if proxy:
        environment.update(proxy_variables(proxy))
    return environment


def proxy_variables(proxy: str) -> dict[str, str]:
    """Every spelling, with the address that has the password where there is one."""
    named = (os.environ.get(name) for name in PROXIES_WITH_PASSWORD)
    return dict.fromkeys(PROXY_VARIABLES, next(filter(None, named), proxy))
