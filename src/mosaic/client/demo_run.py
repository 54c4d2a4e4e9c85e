"""The demo run: an agent learns to cross a frozen lake; the echo worker can take its place.

Which worker a demo trains is said here and nowhere else: `mosaic demo` and the window ask.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

DEMO_NAME = "demo"
_AGENT = "spade_bdi_rl_worker"
_ECHO = "echo_worker"


def learning_run(*, steps: int, rate: int, seed: int = 1) -> dict[str, Any]:
    """What to submit; `rate` in steps a second, 0: as fast as it can."""
    return {
        "run_name": DEMO_NAME,
        "seed": seed,
        "worker": _AGENT,
        "algo": "q_learning",
        "env_id": "FrozenLake-v1",
        "env_kwargs": {"is_slippery": False},
        "total_timesteps": steps,
        "telemetry": {"steps": "all"},
        "params": {"steps_per_second": float(rate)},
    }


def echo_run(*, steps: int, rate: int, seed: int = 1) -> dict[str, Any]:
    """As `learning_run`, with a worker that needs Python alone and learns nothing."""
    return {
        "run_name": DEMO_NAME,
        "seed": seed,
        "worker": _ECHO,
        "algo": "echo",
        "env_id": "Echo-v0",
        "telemetry": {"frames": True},
        "params": {"steps": steps, "rate": rate},
    }


def missing_bundle(client: "TrainerClient") -> str:
    """What the agent still needs installed; empty when it can begin at once.

    Raises `UserError` when its worker is not there or no daemon answers.
    """
    bundle = client.worker(_AGENT).bundle
    is_ready = any(each.name == bundle and each.state == "ready" for each in client.bundles())
    return "" if is_ready else bundle
