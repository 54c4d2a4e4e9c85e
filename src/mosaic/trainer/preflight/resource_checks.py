"""Whether the machine and the settings have what the run asks for, or will probably use."""

from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig
from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.preflight.expectation import Expectation
from mosaic.trainer.preflight.items import Items, blocking, ok, warning
from mosaic.trainer.settings import DaemonSettings

_MB = 1 << 20


def check_cpus(config: TrainRunConfig, machine: Machine, settings: DaemonSettings) -> Items:
    asked, usable = config.resources.cpus, machine.cpus()
    if asked > settings.cpus:
        yield blocking(
            "cpus",
            f"`resources.cpus`: {asked} asked for, and runs may have {settings.cpus} together.",
            f"Ask for at most {settings.cpus}, or raise `cpus` in settings.toml.",
        )
    elif asked > usable:
        yield warning(
            "cpus",
            f"`resources.cpus`: {asked} asked for, and the daemon itself may use {usable}.",
            f"Expect it to be slower, or ask for {usable}.",
        )
    else:
        yield ok("cpus", f"{asked} of {min(usable, settings.cpus)} CPUs.")


def check_memory(
    config: TrainRunConfig, machine: Machine, settings: DaemonSettings, expectation: Expectation
) -> Items:
    asked = config.resources.memory_mb
    limit = settings.memory_mb or machine.memory_mb()
    expected = (expectation.memory_bytes or 0) // _MB
    available = machine.available_memory_mb()
    if asked is not None and asked > limit:
        yield blocking(
            "memory",
            f"`resources.memory_mb`: {asked:,} asked for, and runs may have {limit:,} together.",
            f"Ask for at most {limit}.",
        )
    elif asked is not None and expected > asked:
        yield warning(
            "memory",
            f"`resources.memory_mb`: {asked:,} asked for; runs like this one used {expected:,}.",
            f"Ask for {expected} or more.",
        )
    elif expected > available:
        yield warning(
            "memory",
            f"Runs like this one used {expected:,} MB, and {available:,} MB are free now.",
            "End other programs, or make the run smaller.",
        )
    else:
        yield ok("memory", f"{available:,} MB of memory are free.")


def check_disk(
    home: Home, machine: Machine, settings: DaemonSettings, expectation: Expectation
) -> Items:
    free = machine.disk_free_bytes(home.runs) // _MB
    least, estimate = settings.min_free_disk_mb, expectation.disk_bytes // _MB
    if free < least:
        yield blocking(
            "disk",
            f"{free:,} MB are free where runs are kept; no run starts with less than {least:,}.",
            "Delete runs that are not needed, or move the home to a larger disk.",
        )
    elif free < least + estimate:
        yield warning(
            "disk",
            f"The run may write {estimate:,} MB, and {free:,} MB are free where runs are kept.",
            "Free some space, shorten the run, or tell less of each step (`telemetry.steps`).",
        )
    else:
        yield ok("disk", f"{free:,} MB are free; the run may write {max(estimate, 1):,} MB.")


def check_time_limit(config: TrainRunConfig, expectation: Expectation) -> Items:
    limit, expected = config.time_limit_s, expectation.duration_s
    if limit is not None and expected is not None and expected > limit:
        yield warning(
            "time_limit",
            f"`time_limit_s`: the run is ended after {limit:,.0f} s and probably needs"
            f" {expected:,.0f} s.",
            "Raise the limit, or shorten the run.",
        )
