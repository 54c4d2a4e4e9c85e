"""NVIDIA's GPUs, by `nvidia-smi`, or where that is missing by what the driver shows in `/proc`."""

from collections.abc import Mapping
from pathlib import Path
from shutil import which

from mosaic.trainer.machine.gpus import Gpu, GpuSearch, only_visible
from mosaic.trainer.processes.bounded_command import run_bounded

_QUERY = ("--query-gpu=index,name,memory.total,uuid", "--format=csv,noheader,nounits")
_LIMIT_S = 5.0
_MOST_BYTES = 1 << 16


def find_nvidia(
    proc: Path, dev: Path, environ: Mapping[str, str], *, limit_s: float = _LIMIT_S
) -> GpuSearch:
    """Those that the driver answers for and that the daemon itself may see."""
    program = which("nvidia-smi", path=environ.get("PATH"))
    if program:
        found = _ask(program, environ, limit_s)
    else:
        found = _read_driver(proc / "driver" / "nvidia" / "gpus", dev)
    return only_visible(found, environ, "CUDA_VISIBLE_DEVICES")


def _ask(program: str, environ: Mapping[str, str], limit_s: float) -> GpuSearch:
    try:
        outcome = run_bounded(
            [program, *_QUERY],
            limit_s=limit_s,
            environment=environ,
            most_output_bytes=_MOST_BYTES,
        )
    except OSError as error:
        return GpuSearch(reason=f"nvidia-smi cannot be executed: {error.strerror}")
    if outcome.timed_out:
        return GpuSearch(reason=f"nvidia-smi did not answer within {limit_s:g} s")
    said = outcome.output.decode(errors="replace")
    if outcome.exit_code:
        complaint = " ".join((said + outcome.error_output.decode(errors="replace")).split())[:200]
        return GpuSearch(reason=f"nvidia-smi failed ({outcome.exit_code}): {complaint}")
    lines = [line for line in said.splitlines() if line.strip()]
    gpus = [_parse(line) for line in lines]
    if not gpus:
        return GpuSearch(reason="nvidia-smi lists no GPU")
    readable = tuple(gpu for gpu in gpus if gpu)
    if len(readable) < len(gpus):
        return GpuSearch(reason="nvidia-smi printed something other than a list of GPUs")
    return GpuSearch(tuple(sorted(readable, key=lambda gpu: gpu.index)))


def _parse(line: str) -> Gpu | None:
    fields = [field.strip() for field in line.split(",")]
    # A name may hold a comma; the other fields do not.
    if len(fields) < 4 or not fields[0].isdecimal() or not fields[-1].startswith("GPU-"):
        return None
    memory = fields[-2]  # "[N/A]" where the GPU shares the machine's
    return Gpu(
        index=int(fields[0]),
        name=", ".join(fields[1:-2]),
        memory_mb=int(memory) if memory.isdecimal() else 0,
        uuid=fields[-1],
    )


def _read_driver(folder: Path, dev: Path) -> GpuSearch:
    """As in a container without `nvidia-smi`. Only what it was given has a device file there."""
    found = []
    for path in sorted(folder.glob("*/information")):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        said = {
            name.strip(): value.strip() for name, _, value in (it.partition(":") for it in lines)
        }
        if (dev / f"nvidia{said.get('Device Minor', '')}").exists():
            uuid = said.get("GPU UUID", "")
            found.append((said.get("Model", "NVIDIA GPU"), uuid if "?" not in uuid else ""))
    gpus = tuple(Gpu(index, name, 0, uuid) for index, (name, uuid) in enumerate(found))
    return GpuSearch(gpus, "" if gpus else "no NVIDIA driver with a GPU was found")
