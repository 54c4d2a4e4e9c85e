"""Checks of the worker's bundle: installed, with the right Python, and importable."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mosaic.contract.readiness import BundleInfo
from mosaic.contract.worker_manifest import WorkerManifest
from mosaic.trainer.bundles.bundle_store import PreparedWorker
from mosaic.trainer.preflight.checks import Candidate, Items, blocking, ok, warning
from mosaic.trainer.processes.watched_process import run_bounded

INSTALL = "install_bundle"
"""An action; its argument is the bundle's name, with extras as `name[atari,mujoco]`."""
REPAIR = "repair_bundle"
"""An action; its argument is the same as for `install_bundle`."""

_PROBE = Path(__file__).with_name("package_probe.py")
_PROBE_LIMIT_S = 20.0
_PROBLEMS_SHOWN = 5


def check_bundle(
    candidate: Candidate, prepared: PreparedWorker | None, info: BundleInfo | None
) -> Items:
    """`info` is the bundle's state when the worker is not prepared; None if it is unknown."""
    name = candidate.bundle_name
    if prepared is not None:
        packages = len(prepared.use.packages)
        yield ok("bundle", f"{name or 'Python alone'} is ready, with {packages} packages.")
    elif info is not None and info.state == "broken":
        yield warning(
            "bundle",
            f"The bundle {name} is broken: {info.problem or 'it cannot be used'}",
            "It is repaired before the run starts, which takes a while.",
            action=REPAIR,
            argument=_with_extras(candidate),
        )
    elif info is not None and info.state == "installing":
        yield warning(
            "bundle",
            f"The bundle {name} is being installed.",
            "The run starts afterwards.",
        )
    else:
        yield warning(
            "bundle",
            f"The bundle {name} is not installed; it is installed before the run starts.",
            "Install it now, or let the run install it.",
            action=INSTALL,
            argument=_with_extras(candidate),
        )


def check_python(manifest: WorkerManifest, version: str, bundle: str = "") -> Items:
    """`version`: of the Python that the run would use; `bundle`: the one that has it."""
    major, minor, micro, *_ = (*(int(part) for part in version.split(".")[:3]), 0, 0, 0)
    if manifest.supports_python((major, minor, micro)):
        yield ok("python", f"Python {version}.")
    else:
        yield blocking(
            "python",
            f"{manifest.id} needs Python {manifest.python}, and its environment has {version}.",
            "Install such a Python, then install the bundle again.",
            action=REPAIR if bundle else "",
            argument=bundle,
        )


def check_packages(
    candidate: Candidate,
    prepared: PreparedWorker,
    environment: Mapping[str, str],
    *,
    limit_s: float = _PROBE_LIMIT_S,
) -> Items:
    """Check in the worker's own Python that its packages and its module can be imported."""
    problems = _probe(prepared, environment, limit_s)
    action, argument = (REPAIR, _with_extras(candidate)) if candidate.bundle_name else ("", "")
    if problems is None:
        yield warning(
            "packages",
            f"{prepared.python} did not answer within {limit_s:g} s.",
            "Try again; if the problem persists, repair the bundle.",
            action=action,
            argument=argument,
        )
    elif problems:
        more = len(problems) - _PROBLEMS_SHOWN
        listed = "; ".join(problems[:_PROBLEMS_SHOWN]) + (f"; {more} more" if more > 0 else "")
        yield blocking(
            "packages",
            f"{candidate.worker} cannot run in its environment: {listed}.",
            "Repair the bundle. If the problem persists, correct the worker or its requirements.",
            action=action,
            argument=argument,
        )
    else:
        yield ok("packages", f"{candidate.worker} and its packages can be imported.")


def _probe(
    prepared: PreparedWorker, environment: Mapping[str, str], limit_s: float
) -> list[str] | None:
    request = json.dumps({"module": prepared.module, "packages": prepared.use.packages})
    try:
        result = run_bounded(
            [prepared.python, "-B", "-c", _PROBE.read_text(encoding="utf-8"), request],
            limit_s=limit_s,
            environment={**environment, **prepared.environment()},
            folder=prepared.code,
        )
    except OSError as error:
        return [f"its Python cannot be executed: {error.strerror}"]
    if result.timed_out:
        return None
    try:
        # The last line: a package that hooks into Python's start may have printed before it.
        return msgspec.json.decode(result.output.strip().rpartition(b"\n")[2], type=list[str])
    except msgspec.DecodeError:
        message = result.error_output.decode(errors="replace").strip().rpartition("\n")[2][:200]
        return [f"its Python failed ({result.exit_code}): {message}"]


def _with_extras(candidate: Candidate) -> str:
    bundle = candidate.config.bundle
    extras = f"[{','.join(bundle.extras)}]" if bundle and bundle.extras else ""
    return f"{candidate.bundle_name}{extras}"
