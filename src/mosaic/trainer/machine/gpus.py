"""Finding the GPUs of NVIDIA and AMD, and the variables that make them visible to a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Literal

from mosaic.trainer.processes.watched_process import run_bounded

_NONE = "-1"
"""Hides every device; an empty variable does not in all versions of the drivers."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device of this machine."""

    index: int
    """Among the devices of its vendor, in the order of the PCI bus."""
    name: str
    memory_mb: int
    """0: unknown."""
    uuid: str
    vendor: Literal["nvidia", "amd"] = "nvidia"

    @property
    def address(self) -> str:
        """Its name in an environment variable. CUDA may number devices differently."""
        return self.uuid or str(self.index)


@dataclass(frozen=True, slots=True)
class GpuSearch:
    """The GPUs, or the reason why there are none."""

    gpus: tuple[Gpu, ...] = ()
    reason: str = ""


def only_visible(search: GpuSearch, environ: Mapping[str, str], variable: str) -> GpuSearch:
    """Those that `variable` of the daemon's environment leaves, interpreted as the driver does."""
    chosen = environ.get(variable)
    if chosen is None or not search.gpus:
        return search
    visible: list[Gpu] = []
    for entry in chosen.split(","):
        gpu = _find_by_entry(entry.strip(), search.gpus)
        if gpu is None or gpu in visible:
            break  # drivers ignore everything after an unknown entry
        visible.append(gpu)
    hidden = f"{variable}={chosen} hides every GPU from the daemon"
    return GpuSearch(tuple(visible), "" if visible else hidden)


def _find_by_entry(entry: str, gpus: Sequence[Gpu]) -> Gpu | None:
    if entry.isdecimal():
        return gpus[int(entry)] if int(entry) < len(gpus) else None
    # A UUID may be shortened as long as it is unique.
    matching = [gpu for gpu in gpus if entry and gpu.uuid.startswith(entry)]
    return matching[0] if len(matching) == 1 else None


def visible_devices(granted: Sequence[Gpu]) -> dict[str, str]:
    """The variables that make only the granted GPUs visible to a worker."""
    addresses = ",".join(gpu.address for gpu in granted)
    if not granted or granted[0].vendor == "nvidia":
        return {"CUDA_VISIBLE_DEVICES": addresses or _NONE, "HIP_VISIBLE_DEVICES": _NONE}
    # The other two number the devices that the first one leaves.
    positions = ",".join(str(position) for position in range(len(granted)))
    return {
        "ROCR_VISIBLE_DEVICES": addresses,
        "HIP_VISIBLE_DEVICES": positions,
        "CUDA_VISIBLE_DEVICES": positions,
    }


_QUERY = ("--query-gpu=index,name,memory.total,uuid", "--format=csv,noheader,nounits")
_LIMIT_S = 5.0
_MAX_BYTES = 1 << 16


def find_nvidia(
    proc: Path, dev: Path, environ: Mapping[str, str], *, limit_s: float = _LIMIT_S
) -> GpuSearch:
    """NVIDIA's GPUs that the daemon may see, by `nvidia-smi`, or else by the driver in `/proc`."""
    program = which("nvidia-smi", path=environ.get("PATH"))
    if program:
        search = _query_nvidia_smi(program, environ, limit_s)
    else:
        search = _read_driver(proc / "driver" / "nvidia" / "gpus", dev)
    return only_visible(search, environ, "CUDA_VISIBLE_DEVICES")


def _query_nvidia_smi(program: str, environ: Mapping[str, str], limit_s: float) -> GpuSearch:
    try:
        outcome = run_bounded(
            [program, *_QUERY],
            limit_s=limit_s,
            environment=environ,
            max_output_bytes=_MAX_BYTES,
        )
    except OSError as error:
        return GpuSearch(reason=f"nvidia-smi cannot be executed: {error.strerror}")
    if outcome.timed_out:
        return GpuSearch(reason=f"nvidia-smi did not answer within {limit_s:g} s")
    properties = outcome.output.decode(errors="replace")
    if outcome.exit_code:
        message = " ".join((properties + outcome.error_output.decode(errors="replace")).split())[
            :200
        ]
        return GpuSearch(reason=f"nvidia-smi failed ({outcome.exit_code}): {message}")
    lines = [line for line in properties.splitlines() if line.strip()]
    gpus = [_parse(line) for line in lines]
    if not gpus:
        return GpuSearch(reason="nvidia-smi lists no GPU")
    readable = tuple(gpu for gpu in gpus if gpu)
    if len(readable) < len(gpus):
        return GpuSearch(reason="nvidia-smi printed something other than a list of GPUs")
    return GpuSearch(tuple(sorted(readable, key=lambda gpu: gpu.index)))


def _parse(line: str) -> Gpu | None:
    fields = [field.strip() for field in line.split(",")]
    # A name may contain a comma; the other fields do not.
    if len(fields) < 4 or not fields[0].isdecimal() or not fields[-1].startswith("GPU-"):
        return None
    memory = fields[-2]  # "[N/A]" when the GPU shares the machine's memory
    return Gpu(
        index=int(fields[0]),
        name=", ".join(fields[1:-2]),
        memory_mb=int(memory) if memory.isdecimal() else 0,
        uuid=fields[-1],
    )


def _read_driver(folder: Path, dev: Path) -> GpuSearch:
    """For a container without `nvidia-smi`, which has device files of its own GPUs only."""
    search = []
    for path in sorted(folder.glob("*/information")):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        properties = {
            name.strip(): value.strip() for name, _, value in (it.partition(":") for it in lines)
        }
        if (dev / f"nvidia{properties.get('Device Minor', '')}").exists():
            uuid = properties.get("GPU UUID", "")
            search.append((properties.get("Model", "NVIDIA GPU"), uuid if "?" not in uuid else ""))
    gpus = tuple(Gpu(index, name, 0, uuid) for index, (name, uuid) in enumerate(search))
    return GpuSearch(gpus, "" if gpus else "no NVIDIA driver with a GPU was found")


_GPU_HEAPS = ("1", "2")
"""Types of memory banks on the device: visible to the CPU, and not."""


def find_amd(sys: Path, dev: Path, environ: Mapping[str, str]) -> GpuSearch:
    """AMD's GPUs with a device file that the daemon may see, by the KFD topology in `/sys`."""
    nodes = sys / "class" / "kfd" / "kfd" / "topology" / "nodes"
    by_number = {int(node.name): node for node in nodes.glob("*") if node.name.isdecimal()}
    gpus: list[Gpu] = []
    for _, node in sorted(by_number.items()):
        properties = _properties(node / "properties")
        is_gpu = properties.get("simd_count", "0") != "0"  # the CPU is a node too
        if is_gpu and (dev / "dri" / f"renderD{properties.get('drm_render_minor')}").exists():
            gpus.append(_gpu(len(gpus), node, properties))
    search = GpuSearch(tuple(gpus), "" if gpus else "no AMD driver with a GPU was found")
    for variable in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        search = only_visible(search, environ, variable)
    return search


def _gpu(index: int, node: Path, properties: Mapping[str, str]) -> Gpu:
    banks = [_properties(path) for path in sorted(node.glob("mem_banks/*/properties"))]
    sizes = [bank["size_in_bytes"] for bank in banks if bank.get("heap_type") in _GPU_HEAPS]
    unique_id = properties.get("unique_id", "0")
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
        return ""  # some files are readable by root only
