"""Detection of GPUs, and driver failures."""

import sys
import textwrap

import pytest

from mosaic.trainer.machine.gpus import Gpu, find_nvidia, visible_devices
from tests.trainer.machine.conftest import FakeMachine

pytestmark = pytest.mark.process

TWO_GPUS = """
    echo '0, NVIDIA A100-SXM4-40GB, 40960, GPU-aaaa1111'
    echo '1, NVIDIA H100 PCIe, 81559, GPU-bbbb2222'
"""
A100 = Gpu(0, "NVIDIA A100-SXM4-40GB", 40960, "GPU-aaaa1111")
H100 = Gpu(1, "NVIDIA H100 PCIe", 81559, "GPU-bbbb2222")


def test_gpus_are_listed_by_the_driver(fake: FakeMachine) -> None:
    """Name, memory and UUID of each come from nvidia-smi."""
    fake.put_nvidia_smi(TWO_GPUS)
    assert fake.machine().gpus() == (A100, H100)


def test_a_machine_without_a_driver_has_no_gpus(fake: FakeMachine) -> None:
    """The reason names both vendors."""
    search = fake.machine().gpu_search()
    assert search.gpus == ()
    assert "NVIDIA" in search.reason
    assert "AMD" in search.reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'NVIDIA-SMI has failed: no driver'; exit 9", "failed (9): NVIDIA-SMI has failed"),
        ("echo 'Unable to determine the device handle'", "something other than a list"),
        ("echo '0, A100, 40960, GPU-1'; echo 'ERR!'", "something other than a list"),
        ("echo 'x, A100, 40960, GPU-1'", "something other than a list"),
        ("head -c 300000 /dev/zero", "something other than a list"),
        ("printf '\\377\\376\\n'", "something other than a list"),
        (":", "lists no GPU"),
        ("kill -SEGV $$", "failed (-11)"),
    ],
)
def test_a_driver_with_errors_or_invalid_output_has_no_gpus(
    fake: FakeMachine, script: str, reason: str
) -> None:
    """No GPU is listed, and the reason is reported."""
    fake.environ["PATH"] += ":/usr/bin:/bin"
    fake.put_nvidia_smi(script)
    search = fake.machine().gpu_search()
    assert search.gpus == ()
    assert reason in search.reason


def test_a_driver_that_hangs_has_no_gpus(fake: FakeMachine) -> None:
    """A hanging nvidia-smi is killed after the timeout."""
    fake.environ["PATH"] += ":/usr/bin:/bin"
    fake.put_nvidia_smi("sleep 600")
    search = find_nvidia(fake.root / "proc", fake.root / "dev", fake.environ, limit_s=0.2)
    assert search.gpus == ()
    assert "did not answer within 0.2 s" in search.reason


def test_a_program_that_cannot_be_executed_has_no_gpus(fake: FakeMachine) -> None:
    """A broken nvidia-smi is reported as the reason."""
    fake.put_nvidia_smi("")
    fake.put("bin/nvidia-smi", "#!/no/such/interpreter\n")
    assert "cannot be executed" in fake.machine().gpu_search().reason


def test_a_gpu_without_its_own_memory_is_listed(fake: FakeMachine) -> None:
    """nvidia-smi prints no number if memory is shared with the host."""
    fake.put_nvidia_smi("echo '0, NVIDIA GB10, [N/A], GPU-cccc'")
    assert fake.machine().gpus() == (Gpu(0, "NVIDIA GB10", 0, "GPU-cccc"),)


def test_the_driver_is_queried_once_a_minute(fake: FakeMachine) -> None:
    """Results are cached; a removed GPU is detected after a minute."""
    fake.put_nvidia_smi(TWO_GPUS)
    machine = fake.machine()
    assert len(machine.gpus()) == 2
    fake.put_nvidia_smi("exit 1")
    fake.now = 59.0
    assert len(machine.gpus()) == 2
    fake.now = 61.0
    assert machine.gpus() == ()


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("0,1", (A100, H100)),
        ("1,0", (H100, A100)),
        ("1", (H100,)),
        ("GPU-bbbb", (H100,)),
        ("0,7,1", (A100,)),
        ("0,0", (A100,)),
        ("GPU-", ()),
        ("", ()),
        ("-1", ()),
        ("none", ()),
    ],
)
def test_cuda_visible_devices_limits_the_gpus(
    fake: FakeMachine, visible: str, expected: tuple[Gpu, ...]
) -> None:
    """As in CUDA, entries after the first unknown one are ignored."""
    fake.put_nvidia_smi(TWO_GPUS)
    fake.environ["CUDA_VISIBLE_DEVICES"] = visible
    search = fake.machine().gpu_search()
    assert search.gpus == expected
    assert bool(search.reason) == (not expected)


_INFORMATION = """\
    Model:           NVIDIA GeForce RTX 3090
    IRQ:             130
    GPU UUID:        GPU-{uuid}
    Device Minor:    {minor}
"""


def test_without_nvidia_smi_the_driver_files_are_read(fake: FakeMachine) -> None:
    """In a container, only GPUs with a device file are listed."""
    for minor, uuid in enumerate(("1111", "????-????", "3333")):
        text = textwrap.dedent(_INFORMATION).format(minor=minor, uuid=uuid)
        fake.put(f"proc/driver/nvidia/gpus/0000:0{minor}:00.0/information", text)
    fake.put("dev/nvidia1", "")
    fake.put("dev/nvidia2", "")
    assert fake.machine().gpus() == (
        Gpu(0, "NVIDIA GeForce RTX 3090", 0, ""),
        Gpu(1, "NVIDIA GeForce RTX 3090", 0, "GPU-3333"),
    )


def _put_amd(fake: FakeMachine) -> None:
    nodes = "sys/class/kfd/kfd/topology/nodes"
    fake.put(f"{nodes}/0/properties", "simd_count 0\ncpu_cores_count 16\n")
    for node, minor in ((1, 128), (2, 129), (10, 130)):
        fake.put(
            f"{nodes}/{node}/properties",
            f"simd_count 440\nunique_id {0xABC0 + node}\ndrm_render_minor {minor}\n",
        )
        fake.put(f"{nodes}/{node}/name", "gfx90a\n")
        for bank, heap, size in ((0, 1, 64 << 30), (1, 4, 65536)):
            text = f"heap_type {heap}\nsize_in_bytes {size}\n"
            fake.put(f"{nodes}/{node}/mem_banks/{bank}/properties", text)
        if minor != 129:
            fake.put(f"dev/dri/renderD{minor}", "")


def test_amd_gpus_are_listed_by_their_driver(fake: FakeMachine) -> None:
    """CPUs in the topology and devices without a device file are omitted."""
    _put_amd(fake)
    assert fake.machine().gpus() == (
        Gpu(0, "gfx90a", 65536, "GPU-000000000000abc1", "amd"),
        Gpu(1, "gfx90a", 65536, "GPU-000000000000abca", "amd"),
    )


def test_amd_gpus_can_be_hidden_from_the_daemon(fake: FakeMachine) -> None:
    """HIP_VISIBLE_DEVICES indexes the devices of ROCR_VISIBLE_DEVICES."""
    _put_amd(fake)
    fake.environ |= {"ROCR_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "0"}
    assert [gpu.index for gpu in fake.machine().gpus()] == [1]


def test_a_worker_sees_only_its_granted_gpus() -> None:
    """By UUID, because CUDA may order devices differently; without a grant none is visible."""
    assert visible_devices([H100])["CUDA_VISIBLE_DEVICES"] == "GPU-bbbb2222"
    assert visible_devices([])["CUDA_VISIBLE_DEVICES"] == "-1"
    assert visible_devices([])["HIP_VISIBLE_DEVICES"] == "-1"
    amd = Gpu(3, "gfx90a", 65536, "", "amd")
    assert visible_devices([amd]) == {
        "ROCR_VISIBLE_DEVICES": "3",
        "HIP_VISIBLE_DEVICES": "0",
        "CUDA_VISIBLE_DEVICES": "0",
    }


def test_gpu_detection_does_not_import_torch(fake: FakeMachine) -> None:
    """Importing torch would use too much memory in the daemon."""
    fake.machine().gpus()
    assert "torch" not in sys.modules
