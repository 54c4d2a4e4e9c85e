"""Configurations of the demo run: a BDI agent on FrozenLake, or the echo worker.

A separate module because both `mosaic demo` and the window submit these configurations.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

DEMO_NAME = "demo"
_LEARNING_WORKER = "spade_bdi_rl_worker"
_ECHO_WORKER = "echo_worker"


def make_learning_demo(*, steps: int, rate: int, seed: int = 1) -> dict[str, Any]:
    """Return the configuration to submit; `rate` in steps per second, 0: unlimited."""
    return {
        "run_name": DEMO_NAME,
        "seed": seed,
        "worker": _LEARNING_WORKER,
        "algo": "q_learning",
        "env_id": "FrozenLake-v1",
        "env_kwargs": {"is_slippery": False},
        "total_timesteps": steps,
        "telemetry": {"steps": "all"},
        "params": {"steps_per_second": float(rate)},
    }


def make_echo_demo(*, steps: int, rate: int, seed: int = 1) -> dict[str, Any]:
    """Like `make_learning_demo`, with a worker that needs no bundle and does not learn."""
    return {
        "run_name": DEMO_NAME,
        "seed": seed,
        "worker": _ECHO_WORKER,
        "algo": "echo",
        "env_id": "Echo-v0",
        "telemetry": {"frames": True},
        "params": {"steps": steps, "rate": rate},
    }


def find_missing_bundle(client: "TrainerClient") -> str:
    """Return the bundle that has to be installed for the learning demo, '' if none.

    Raises `UserError` if the worker does not exist or no daemon answers.
    """
    bundle = client.worker(_LEARNING_WORKER).bundle
    is_ready = any(info.name == bundle and info.state == "ready" for info in client.bundles())
    return "" if is_ready else bundle
