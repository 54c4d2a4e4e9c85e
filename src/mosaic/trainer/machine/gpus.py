"""What a GPU is here, and which of them a process sees.

`nvidia.py` and `amd.py` find them, `machine.py` asks both, and the dispatcher grants them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

_NONE = "-1"
"""Hides every device; an empty variable does not in every version of the drivers."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device of this machine."""

    index: int
    """Among those of its vendor, in the order of the PCI bus."""
    name: str
    memory_mb: int
    """0: not known."""
    uuid: str
    vendor: Literal["nvidia", "amd"] = "nvidia"

    @property
    def address(self) -> str:
        """How an environment variable names it. An index may mean another one to CUDA."""
        return self.uuid or str(self.index)


@dataclass(frozen=True, slots=True)
class GpuSearch:
    """What was found, and why nothing was."""

    gpus: tuple[Gpu, ...] = ()
    reason: str = ""


def only_visible(search: GpuSearch, environ: Mapping[str, str], variable: str) -> GpuSearch:
    """Those that an outer `CUDA_VISIBLE_DEVICES` (or the like) leaves, as the driver reads it."""
    chosen = environ.get(variable)
    if chosen is None or not search.gpus:
        return search
    visible: list[Gpu] = []
    for entry in chosen.split(","):
        gpu = _meant_by(entry.strip(), search.gpus)
        if gpu is None or gpu in visible:
            break  # drivers ignore whatever follows an entry that they do not know
        visible.append(gpu)
    hidden = f"{variable}={chosen} hides every GPU from the daemon"
    return GpuSearch(tuple(visible), "" if visible else hidden)


def _meant_by(entry: str, gpus: Sequence[Gpu]) -> Gpu | None:
    if entry.isdecimal():
        return gpus[int(entry)] if int(entry) < len(gpus) else None
    # A UUID may be shortened as long as it means one device only.
    meant = [gpu for gpu in gpus if entry and gpu.uuid.startswith(entry)]
    return meant[0] if len(meant) == 1 else None


def visible_devices(granted: Sequence[Gpu]) -> dict[str, str]:
    """The variables that let a worker see the GPUs granted to it, and no others."""
    addresses = ",".join(gpu.address for gpu in granted)
    if not granted or granted[0].vendor == "nvidia":
        return {"CUDA_VISIBLE_DEVICES": addresses or _NONE, "HIP_VISIBLE_DEVICES": _NONE}
    # The other two count among what the first one leaves.
    counted = ",".join(str(position) for position in range(len(granted)))
    return {
        "ROCR_VISIBLE_DEVICES": addresses,
        "HIP_VISIBLE_DEVICES": counted,
        "CUDA_VISIBLE_DEVICES": counted,
    }
