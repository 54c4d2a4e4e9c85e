"""AMD's GPUs, by the topology that its compute driver (KFD) shows under `/sys`."""

from collections.abc import Mapping
from pathlib import Path

from mosaic.trainer.machine.gpus import Gpu, GpuSearch, only_visible

_GPU_HEAPS = ("1", "2")
"""Kinds of memory banks that lie on the device: visible to the CPU, and not."""


def find_amd(sys: Path, dev: Path, environ: Mapping[str, str]) -> GpuSearch:
    """Those with a device file that exists here, and that the daemon itself may see."""
    nodes = sys / "class" / "kfd" / "kfd" / "topology" / "nodes"
    by_number = {int(node.name): node for node in nodes.glob("*") if node.name.isdecimal()}
    gpus: list[Gpu] = []
    for _, node in sorted(by_number.items()):
        said = _properties(node / "properties")
        is_gpu = said.get("simd_count", "0") != "0"  # the CPU is a node too
        if is_gpu and (dev / "dri" / f"renderD{said.get('drm_render_minor')}").exists():
            gpus.append(_gpu(len(gpus), node, said))
    found = GpuSearch(tuple(gpus), "" if gpus else "no AMD driver with a GPU was found")
    for variable in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        found = only_visible(found, environ, variable)
    return found


def _gpu(index: int, node: Path, said: Mapping[str, str]) -> Gpu:
    banks = [_properties(path) for path in sorted(node.glob("mem_banks/*/properties"))]
    sizes = [bank["size_in_bytes"] for bank in banks if bank.get("heap_type") in _GPU_HEAPS]
    unique_id = said.get("unique_id", "0")
    return Gpu(
        index=index,
        name=_text(node / "name").strip() or "AMD GPU",
        memory_mb=sum(int(size) for size in sizes if size.isdecimal()) >> 20,
        uuid=f"GPU-{int(unique_id):016x}" if unique_id.isdecimal() and unique_id != "0" else "",
        vendor="amd",
    )


def _properties(path: Path) -> dict[str, str]:
    pairs = (line.partition(" ") for line in _text(path).splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # some files are for root alone
