"""The Python and the code that simulate an episode: those of its run where they still exist."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.imported_code import describe_code
from mosaic.contract.layout import Home
from mosaic.contract.run_config import BundleConfig, load_run_config
from mosaic.contract.runs import BundleUse, RunDetails
from mosaic.trainer.bundles.bundle_store import BundleStore, PreparedWorker
from mosaic.trainer.simulation.errors import bundle_missing
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_HELPER = Path("mosaic_worker", "resimulation", "__main__.py")


@dataclass(frozen=True, slots=True)
class SimulationRuntime:
    """The Python and import path of a helper process."""

    python: Path
    code: tuple[Path, ...]
    """Folders on its import path; the first one has the SDK."""
    warnings: tuple[str, ...] = ()


def find_runtime(
    home: Home, bundles: BundleStore, catalog: WorkerCatalog, details: RunDetails
) -> SimulationRuntime:
    """The run's own environment and code, else those the worker would get now.

    Raises `UserError` when neither is installed.
    """
    use = details.bundle
    python = bundles.recorded_python(use) if use and use.name else None
    code = _recorded_code(home, use)
    warnings = []
    current: PreparedWorker | None = None
    if python is None:
        current = _current(bundles, catalog, details)
        python = current.python
        if use and use.name:
            now = f"{current.use.name}-{current.use.hash}"
            warnings.append(
                f"The bundle {use.name}-{use.hash} no longer exists; {now} is used instead."
            )
    if code is None:
        current = current or _current_or_none(bundles, catalog, details)
        code = current.code if current else None
        if use and use.code_path:
            which = "its current code is used instead" if code else "the replay runs without it"
            warnings.append(f"The worker code of this run no longer exists; {which}.")
    folders = [*map(Path, load_run_config(details.config_json).python_path)]
    if withheld := msgspec.json.decode(details.withheld_json):
        warnings.append(
            f"The run was imported, so its code is not used: {'; '.join(describe_code(withheld))}."
        )
    if code is not None:
        folders.insert(0, code)
    if code is None or not (code / _HELPER).is_file():
        folders.insert(0, bundles.sdk_copy())
    return SimulationRuntime(python, tuple(folders), tuple(warnings))


def _recorded_code(home: Home, use: BundleUse | None) -> Path | None:
    """The copy of the worker's code that the run used, if it still exists.

    Only its name is used: the record is not trusted, and must not lead to another folder.
    """
    name = Path(use.code_path).name if use else ""
    path = home.worker_code / name
    return path if name and not name.startswith(".") and path.is_dir() else None


def _current(bundles: BundleStore, catalog: WorkerCatalog, details: RunDetails) -> PreparedWorker:
    """The worker as it would be started now."""
    bundle = _bundle_of(details)
    script = load_run_config(details.config_json).script
    prepared = bundles.lookup(details.run.worker, bundle, script)
    if prepared is None:
        name = catalog.find(details.run.worker).manifest.bundle_for(bundle, script)
        raise bundle_missing(name or "", bundle.extras if bundle else ())
    return prepared


def _current_or_none(
    bundles: BundleStore, catalog: WorkerCatalog, details: RunDetails
) -> PreparedWorker | None:
    try:
        return _current(bundles, catalog, details)
    except UserError:
        return None  # many environments do not need the worker's code


def _bundle_of(details: RunDetails) -> BundleConfig | None:
    """The recorded bundle; for an imported run the one in its configuration."""
    use = details.bundle
    if use is not None:
        return BundleConfig(name=use.name, extras=use.extras) if use.name else None
    return load_run_config(details.config_json).bundle
