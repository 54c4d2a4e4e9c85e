"""Preflight: checks a run before it starts, and reports what to expect of it.

Called by the service, on a thread. Checks that may wait (for a driver, a service, the worker's
Python) run concurrently, each with its own time limit.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.readiness import BundleInfo, PreflightItem, PreflightReport
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery
from mosaic.contract.worker_manifest import WorkerManifest
from mosaic.trainer.bundles.bundle_store import BundleStore, PreparedWorker
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.machine.machine import Machine
from mosaic.trainer.preflight import outside_checks, resource_checks, worker_checks
from mosaic.trainer.preflight.bundle_checks import check_bundle, check_packages, check_python
from mosaic.trainer.preflight.checks import Candidate, Items, blocking, ok, warning
from mosaic.trainer.preflight.expectation import Expectation, expect
from mosaic.trainer.preflight.resource_checks import check_gpu
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.secrets import Secrets
from mosaic.trainer.workers.run_scripts import SCRIPT_CODES, descriptor_of_run
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

_THREADS = 6
_EARLIER_RUNS = 10

Check = tuple[str, Callable[[], Items]]
"""The topic of a check, and its function."""


@dataclass(frozen=True, slots=True)
class _Readiness:
    """The prepared worker; if it cannot start at once, the state of its bundle or the error."""

    prepared: PreparedWorker | None = None
    bundle: BundleInfo | None = None
    error: UserError | None = None


class Preflight:
    """Changes nothing but the copy of the worker's code. Safe from any thread."""

    def __init__(
        self,
        home: Home,
        catalog: WorkerCatalog,
        bundles: BundleStore,
        machine: Machine,
        registry: RunRegistry,
        secrets: Secrets,
        settings: DaemonSettings,
        *,
        launchers: Collection[str] = ("local",),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._home = home
        self._catalog = catalog
        self._bundles = bundles
        self._machine = machine
        self._registry = registry
        self._secrets = secrets
        self._settings = settings
        self._launchers = launchers
        self._environ = environ

    def report(self, config: TrainRunConfig) -> PreflightReport:
        """Whether the run can start here, and what to expect of it. Contains no secrets."""
        try:
            worker = self._catalog.find(config.worker)
            descriptor = descriptor_of_run(self._catalog, config)
        except UserError as error:
            about = "script" if error.code in SCRIPT_CODES else "worker"
            item = blocking(about, self._redact(error.message), self._redact(error.remedy))
            return PreflightReport(items=(item,))
        candidate = Candidate(config, worker.manifest, descriptor)
        expectation = self._expect(candidate)
        readiness = self._readiness(candidate)
        checks = [
            *self._descriptor_checks(candidate),
            *self._bundle_checks(candidate, readiness),
            *self._machine_checks(candidate, expectation),
            *self._outside_checks(candidate, readiness.prepared),
        ]
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="preflight") as pool:
            items = [item for available in pool.map(_run_check, checks) for item in available]
        return PreflightReport(
            items=tuple(map(self._without_secrets, items)),
            expected_duration_s=expectation.duration_s,
            expected_sps=expectation.sps,
            expected_memory_bytes=expectation.memory_bytes,
            earlier_runs=expectation.runs,
            command=tuple(map(self._redact, self._command(candidate, readiness))),
        )

    def _expect(self, candidate: Candidate) -> Expectation:
        config = candidate.config
        algo = config.algo or ""
        kind = RunQuery(
            worker=config.worker,
            algo=algo,
            env_id=config.env_id,
            states=(RunState.SUCCEEDED,),
            include_archived=True,
            page_size=_EARLIER_RUNS,
        )
        earlier = self._registry.earlier_runs(config.worker, algo, config.env_id, _EARLIER_RUNS)
        records = self._registry.list(kind).runs
        return expect(config.total_timesteps, candidate.step_detail, earlier, records)

    def _readiness(self, candidate: Candidate) -> _Readiness:
        config = candidate.config
        try:
            prepared = self._bundles.lookup(config.worker, config.bundle, config.script)
            if prepared is not None:
                return _Readiness(prepared)
            return _Readiness(bundle=self._not_ready(candidate))
        except UserError as error:
            return _Readiness(error=error)

    def _not_ready(self, candidate: Candidate) -> BundleInfo | None:
        """The state of the bundle that prevents the worker from starting at once."""
        bundle = candidate.config.bundle
        extras = tuple(sorted(set(bundle.extras))) if bundle else ()
        states = {
            info.state: info
            for info in self._bundles.list({})
            if info.name == candidate.bundle_name and info.extras in ((), extras)
        }
        # A missing one is reported first: another of older requirements may be broken beside it.
        order = (
            ("installing", "broken", "missing") if extras else ("installing", "missing", "broken")
        )
        return next((states[state] for state in order if state in states), None)

    def _descriptor_checks(self, candidate: Candidate) -> Iterator[Check]:
        version = f" {candidate.descriptor.version}" if candidate.descriptor.version else ""
        available = ok("worker", f"{candidate.worker}{version} is available.")
        yield "worker", lambda: iter((available,))
        yield "mode", lambda: worker_checks.check_mode(candidate)
        yield "algorithm", lambda: worker_checks.check_algorithm(candidate)
        yield "parameters", lambda: worker_checks.check_parameters(candidate)
        yield "environment", lambda: worker_checks.check_environment(candidate)
        yield "starting point", lambda: worker_checks.check_starting_point(candidate)
        yield "launcher", lambda: worker_checks.check_launcher(candidate, self._launchers)

    def _bundle_checks(self, candidate: Candidate, readiness: _Readiness) -> Iterator[Check]:
        prepared, error = readiness.prepared, readiness.error
        if error is not None:
            item = blocking("bundle", error.message, error.remedy)
            yield "bundle", lambda: iter((item,))
            return
        yield "bundle", lambda: check_bundle(candidate, prepared, readiness.bundle)
        yield (
            "python",
            lambda: check_python(
                candidate.manifest, self._python(candidate, prepared), candidate.bundle_name
            ),
        )
        if prepared is not None:
            environment = self._secrets.without_secrets(self._environ)
            yield "packages", lambda: check_packages(candidate, prepared, environment)

    def _machine_checks(self, candidate: Candidate, expected: Expectation) -> Iterator[Check]:
        config, machine, settings = candidate.config, self._machine, self._settings
        yield "gpu", lambda: check_gpu(candidate, machine)
        yield "cpus", lambda: resource_checks.check_cpus(config, machine, settings)
        yield "memory", lambda: resource_checks.check_memory(config, machine, settings, expected)
        yield "disk", lambda: resource_checks.check_disk(self._home, machine, settings, expected)
        yield "time_limit", lambda: resource_checks.check_time_limit(config, expected)

    def _outside_checks(
        self, candidate: Candidate, prepared: PreparedWorker | None
    ) -> Iterator[Check]:
        secrets, environ = self._secrets, self._environ
        packages = prepared.use.packages if prepared else None
        yield "wandb", lambda: outside_checks.check_wandb(candidate, secrets, packages)
        yield "credentials", lambda: outside_checks.check_credentials(candidate, secrets)
        yield "services", lambda: outside_checks.check_services(candidate, environ)
        yield "network", lambda: outside_checks.check_network(candidate, self._machine)

    def _python(self, candidate: Candidate, prepared: PreparedWorker | None) -> str:
        if prepared is not None:
            return prepared.use.python
        return self._catalog.interpreters.find(candidate.manifest).version_text

    def _command(self, candidate: Candidate, readiness: _Readiness) -> tuple[str, ...]:
        if readiness.prepared is not None:
            return readiness.prepared.command(planned_config(self._home))
        digest = readiness.bundle.hash if readiness.bundle else ""
        name = candidate.bundle_name
        folder = f"{name}-{digest or '<hash>'}" if name else ""
        return planned_command(self._home, candidate.manifest, folder)

    def _without_secrets(self, item: PreflightItem) -> PreflightItem:
        message, remedy = self._redact(item.message), self._redact(item.remedy)
        return msgspec.structs.replace(item, message=message, remedy=remedy)

    def _redact(self, text: str) -> str:
        return self._secrets.redact(text)


def _run_check(check: Check) -> list[PreflightItem]:
    name, function = check
    try:
        return list(function())
    except UserError as error:
        return [warning(name, f"The check failed: {error.message}", error.remedy)]


def planned_config(home: Home) -> Path:
    """The path that the configuration would have; the id is created at submission."""
    return RunDirectory(home.runs / "<run id>").config


def planned_command(home: Home, manifest: WorkerManifest, bundle: str) -> tuple[str, ...]:
    """The command of a run once `bundle` is installed; its folder's name ends with a hash."""
    python = home.venvs / bundle / "bin" / "python" if bundle else Path("python")
    return (str(python), "-m", manifest.module, "--config", str(planned_config(home)))
