"""Checks of the resources that a run requests or is expected to use."""

import json
from typing import Any

from mosaic.contract.descriptor import Algorithm
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.machine.gpus import GpuSearch
from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.preflight.checks import Candidate, Items, blocking, ok, warning
from mosaic.trainer.preflight.expectation import Expectation

_MB = 1 << 20


def check_cpus(config: TrainRunConfig, machine: Machine, settings: DaemonSettings) -> Items:
    requested, usable = config.resources.cpus, machine.cpus()
    if requested > settings.cpus:
        yield blocking(
            "cpus",
            f"`resources.cpus`: {requested} requested, and the total for runs is {settings.cpus}.",
            f"Request at most {settings.cpus}, or raise `cpus` in settings.toml.",
        )
    elif requested > usable:
        yield warning(
            "cpus",
            f"`resources.cpus`: {requested} requested, and the daemon may use {usable}.",
            f"Expect it to be slower, or request {usable}.",
        )
    else:
        yield ok("cpus", f"{requested} of {min(usable, settings.cpus)} CPUs.")


def check_memory(
    config: TrainRunConfig, machine: Machine, settings: DaemonSettings, expectation: Expectation
) -> Items:
    requested = config.resources.memory_mb
    limit = settings.memory_mb or machine.memory_mb()
    expected = (expectation.memory_bytes or 0) // _MB
    available = machine.available_memory_mb()
    if requested is not None and requested > limit:
        yield blocking(
            "memory",
            f"`resources.memory_mb`: {requested:,} requested, and the total for runs is {limit:,}.",
            f"Request at most {limit}.",
        )
    elif requested is not None and expected > requested:
        yield warning(
            "memory",
            f"`resources.memory_mb`: {requested:,} requested; runs like it used {expected:,}.",
            f"Request {expected} or more.",
        )
    elif expected > available:
        yield warning(
            "memory",
            f"Runs like this one used {expected:,} MB, and {available:,} MB are free now.",
            "Close other programs, or make the run smaller.",
        )
    else:
        yield ok("memory", f"{available:,} MB of memory are free.")


def check_disk(
    home: Home, machine: Machine, settings: DaemonSettings, expectation: Expectation
) -> Items:
    free = machine.disk_free_bytes(home.runs) // _MB
    minimum, estimate = settings.min_free_disk_mb, expectation.disk_bytes // _MB
    if free < minimum:
        yield blocking(
            "disk",
            f"{free:,} MB are free for runs; no run starts with less than {minimum:,}.",
            "Delete runs that are not needed, or move the home to a larger disk.",
        )
    elif free < minimum + estimate:
        yield warning(
            "disk",
            f"The run may write {estimate:,} MB, and {free:,} MB are free for runs.",
            "Free some space, shorten the run, or record less of each step (`telemetry.steps`).",
        )
    else:
        yield ok("disk", f"{free:,} MB are free; the run may write {max(estimate, 1):,} MB.")


def check_time_limit(config: TrainRunConfig, expectation: Expectation) -> Items:
    limit, expected = config.time_limit_s, expectation.duration_s
    if limit is not None and expected is not None and expected > limit:
        yield warning(
            "time_limit",
            f"`time_limit_s`: the run is stopped after {limit:,.0f} s and probably needs"
            f" {expected:,.0f} s.",
            "Raise the limit, or shorten the run.",
        )


USE_CPU = "use_cpu_preset"
"""An action; its argument is the JSON merge patch that switches the configuration to the CPU."""
USE_GPU = "use_gpu_preset"
"""An action; its argument is the JSON merge patch that requests one GPU."""


def check_gpu(candidate: Candidate, machine: Machine) -> Items:
    """Searches for GPUs only if needed: a broken driver may take seconds to fail."""
    requested = candidate.config.resources.gpus
    algorithm = candidate.algorithm
    need = algorithm.gpu if algorithm else "optional"
    if need == "none" and 0 < requested <= len(machine.gpus()):
        yield warning(
            "gpu",
            f"`resources.gpus`: {requested} requested, which the algorithm does not use.",
            "Set it to 0, so that other runs can have them.",
            action=USE_CPU,
            argument=_cpu_patch(candidate),
        )
    elif need == "required" or requested:
        yield from _check_needed(candidate, machine.gpu_search(), is_required=need == "required")
    elif need == "optional" and algorithm:
        yield from _check_optional(candidate, algorithm, machine.gpu_search())


def _check_needed(candidate: Candidate, search: GpuSearch, *, is_required: bool) -> Items:
    requested, available = candidate.config.resources.gpus, len(search.gpus)
    if is_required and available and not requested:
        yield blocking(
            "gpu",
            "`resources.gpus`: the algorithm requires a GPU, and the run requests none.",
            "Set it to 1.",
            action=USE_GPU,
            argument=json.dumps({"resources": {"gpus": 1}}),
        )
    elif requested <= available and available:
        names = ", ".join(sorted({gpu.name for gpu in search.gpus}))
        yield ok("gpu", f"{requested} of {available} GPUs ({names}).")
    elif is_required:
        yield blocking(
            "gpu",
            f"The algorithm requires a GPU, and {_describe_gpus(search)}.",
            "Run it on a machine with more GPUs, or choose another algorithm.",
        )
    else:
        yield blocking(
            "gpu",
            f"`resources.gpus`: {requested} requested, and {_describe_gpus(search)}.",
            "Request fewer, or let the run use the CPU.",
            action=USE_CPU,
            argument=_cpu_patch(candidate),
        )


def _check_optional(candidate: Candidate, algorithm: Algorithm, search: GpuSearch) -> Items:
    if search.gpus:
        yield ok("gpu", "The run requests no GPU, and uses the CPU.")
        return
    patch = _device_patch(candidate, algorithm)
    if _chooses_device(algorithm) and not patch:
        yield ok("gpu", "Runs on the CPU, as configured.")
    else:
        yield warning(
            "gpu",
            f"Runs on the CPU: {_describe_gpus(search)}.",
            "Expect it to be slower; the CPU preset sets that in the configuration."
            if patch
            else "Expect it to be slower.",
            action=USE_CPU if patch else "",
            argument=_cpu_patch(candidate) if patch else "",
        )


def _describe_gpus(search: GpuSearch) -> str:
    if search.gpus:
        return f"this machine has {len(search.gpus)}"
    return f"this machine has none ({search.reason})"


def _cpu_patch(candidate: Candidate) -> str:
    patch: dict[str, Any] = {"resources": {"gpus": 0}}
    params = _device_patch(candidate, candidate.algorithm) if candidate.algorithm else {}
    return json.dumps(patch | ({"params": params} if params else {}))


def _chooses_device(algorithm: Algorithm) -> bool:
    return any(parameter.name in ("cuda", "device") for parameter in algorithm.parameters)


def _device_patch(candidate: Candidate, algorithm: Algorithm) -> dict[str, Any]:
    """The changes of parameters that make the run use the CPU."""
    now = candidate.resolved_params()
    patch: dict[str, Any] = {}
    for parameter in algorithm.parameters:
        if parameter.name == "cuda" and parameter.type == "bool" and now.get("cuda"):
            patch["cuda"] = False
        is_text = parameter.type == "str" or "cpu" in parameter.choices
        if parameter.name == "device" and is_text and now.get("device") != "cpu":
            patch["device"] = "cpu"
    return patch
