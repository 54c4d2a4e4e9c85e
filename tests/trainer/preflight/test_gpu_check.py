"""A missing GPU blocks only if one is required or requested."""

import json
from typing import Any

import pytest

from mosaic.contract.readiness import CheckStatus, PreflightItem
from mosaic.trainer.preflight.resource_checks import check_gpu
from tests.trainer.machine.conftest import FakeMachine
from tests.trainer.preflight.conftest import candidate, config, only

pytestmark = pytest.mark.process

CUDA = {"name": "cuda", "type": "bool", "default": True}
DEVICE = {"name": "device", "type": "choice", "default": "auto", "choices": ["auto", "cpu"]}


def run_check(
    fake: FakeMachine, need: str, gpus: int = 0, available: int = 0, **requested: Any
) -> list[PreflightItem]:
    parameters = requested.pop("parameters", [])
    if available:
        lines = "\n".join(f"echo '{n}, A100, 40960, GPU-{n}'" for n in range(available))
        fake.put_nvidia_smi(lines)
    algorithm = {"id": "ppo", "gpu": need, "parameters": parameters}
    run = config(resources={"gpus": gpus}, **requested)
    return list(check_gpu(candidate(run, algorithms=[algorithm]), fake.machine()))


@pytest.mark.parametrize(
    ("need", "gpus", "available", "status"),
    [
        ("required", 1, 1, CheckStatus.OK),
        ("required", 1, 0, CheckStatus.BLOCKING),
        ("required", 0, 0, CheckStatus.BLOCKING),
        ("required", 0, 1, CheckStatus.BLOCKING),
        ("required", 2, 1, CheckStatus.BLOCKING),
        ("optional", 1, 1, CheckStatus.OK),
        ("optional", 1, 0, CheckStatus.BLOCKING),
        ("optional", 0, 0, CheckStatus.WARNING),
        ("optional", 0, 1, CheckStatus.OK),
        ("none", 1, 1, CheckStatus.WARNING),
        ("none", 1, 0, CheckStatus.BLOCKING),
    ],
)
def test_required_requested_and_available_gpus(
    fake: FakeMachine, need: str, gpus: int, available: int, status: CheckStatus
) -> None:
    """Required or requested but missing blocks; optional but missing warns."""
    item = only(iter(run_check(fake, need, gpus, available)))
    assert item.status is status
    assert bool(item.remedy) == (status is not CheckStatus.OK)


def test_an_algorithm_without_gpu_skips_the_check(fake: FakeMachine) -> None:
    """The driver is not queried, because a broken one takes seconds to fail."""
    fake.put_nvidia_smi(f"touch {fake.root}/was-queried")
    fake.environ["PATH"] += ":/usr/bin:/bin"
    assert run_check(fake, "none") == []
    assert not (fake.root / "was-queried").exists()


def test_the_reason_for_a_missing_gpu_is_reported(fake: FakeMachine) -> None:
    """The message has the error of the driver."""
    fake.put_nvidia_smi("echo 'Driver/library version mismatch'; exit 18")
    (item,) = run_check(fake, "required", 1)
    assert "version mismatch" in item.message


@pytest.mark.parametrize(
    ("parameters", "patch"),
    [
        ([], {"resources": {"gpus": 0}}),
        ([CUDA], {"resources": {"gpus": 0}, "params": {"cuda": False}}),
        ([CUDA, DEVICE], {"resources": {"gpus": 0}, "params": {"cuda": False, "device": "cpu"}}),
    ],
)
def test_the_cpu_preset_is_offered(
    fake: FakeMachine, parameters: list[dict[str, Any]], patch: dict[str, Any]
) -> None:
    """The patch sets the GPU count and the device parameters of the algorithm."""
    (item,) = run_check(fake, "optional", 1, parameters=parameters)
    assert item.action == "use_cpu_preset"
    assert json.loads(item.action_argument) == patch


def test_the_cpu_preset_removes_the_warning(fake: FakeMachine) -> None:
    """Applying the parameters of the preset makes the check pass."""
    (before,) = run_check(fake, "optional", parameters=[CUDA])
    assert before.action == "use_cpu_preset"
    params = json.loads(before.action_argument)["params"]
    (after,) = run_check(fake, "optional", parameters=[CUDA], params=params)
    assert after.status is CheckStatus.OK


def test_the_gpu_preset_is_offered(fake: FakeMachine) -> None:
    """A run must request the GPU that its algorithm requires."""
    (item,) = run_check(fake, "required", 0, 2)
    assert item.action == "use_gpu_preset"
    assert json.loads(item.action_argument) == {"resources": {"gpus": 1}}
