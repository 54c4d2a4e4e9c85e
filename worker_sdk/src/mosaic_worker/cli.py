"""`main`: the command line of every worker, and a run from start to exit code."""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Union

from mosaic_worker.errors import ConfigError, WorkerError
from mosaic_worker.flags import parse_flags
from mosaic_worker.run_config import read_config, resolve, script_algorithm, unknown_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mosaic_worker.descriptor import Descriptor
    from mosaic_worker.flags import Flags
    from mosaic_worker.run import Run
    from mosaic_worker.run_config import DescribeScript, RunConfig

Work = Callable[["Run"], Union[int, None]]
Plan = Callable[["RunConfig"], "dict[str, Any]"]

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2

UNKNOWN_FIELD = "W121"
"""A field of the run's configuration is unknown and has no effect."""

GRPC_NOT_NEEDED = "W120"
"""--grpc has no effect: telemetry is written to stdout."""

_MAX_ERROR_CHARS = 10_000
_DISTRIBUTION_SUFFIXES = (".dist-info", ".egg-info")


class _Worker(NamedTuple):
    """The arguments of `main`."""

    descriptor: Descriptor
    work: Work
    plan: Plan | None
    describe_script: DescribeScript | None

    def resolve(self, flags: Flags) -> RunConfig:
        return resolve(
            read_config(flags.config), self.descriptor, flags.overrides, self.describe_script
        )

    def print_error(self, message: str) -> None:
        print(f"{self.descriptor.worker}: {message}", file=sys.stderr)


def main(
    descriptor: Descriptor,
    work: Work,
    argv: Sequence[str] | None = None,
    plan: Plan | None = None,
    describe_script: DescribeScript | None = None,
) -> int:
    """Run a worker from its command line; returns the exit code.

    `work` trains: it receives a `Run`, checks `run.should_stop`, and returns None or an exit code.
    `plan` may return a dict that replaces entries of the summary of `--dry-run`.
    `describe_script` is for a worker that runs third-party scripts: it returns the parameters of a
    script, using only the standard library and without running it.
    """
    if describe_script is not None:
        descriptor = descriptor._replace(supports=descriptor.supports._replace(scripts=True))
    descriptor.check()
    worker = _Worker(descriptor, work, plan, describe_script)
    arguments = list(sys.argv[1:] if argv is None else argv)
    flags = parse_flags(descriptor, arguments)
    if flags.describe:
        return _describe(worker, flags.script)
    if flags.dry_run:
        return _dry_run(worker, flags, arguments)
    return _run(worker, flags, arguments)


def _describe(worker: _Worker, script: str | None) -> int:
    descriptor = worker.descriptor
    if script is not None:
        try:
            algorithm = script_algorithm(descriptor, script, worker.describe_script)
        except ConfigError as error:
            worker.print_error(str(error))
            return EXIT_USAGE
        descriptor = descriptor._replace(algorithms=(algorithm,))
    _print_result(json.dumps(descriptor.to_json(), indent=2))
    return EXIT_OK


def _dry_run(worker: _Worker, flags: Flags, arguments: Sequence[str]) -> int:
    try:
        config = worker.resolve(flags)
        summary = _summary(worker, config, arguments)
    except WorkerError as error:
        worker.print_error(str(error))
        return EXIT_USAGE
    for warning in unknown_fields(config.raw):
        worker.print_error(warning)
    if flags.emit_summary:
        _print_result(json.dumps(summary, indent=2))
        return EXIT_OK
    values = [f"  {name} = {value}" for name, value in summary["arguments"].items()]
    name = worker.descriptor.worker
    _print_result("\n".join([f"{name} would run: {' '.join(summary['argv'])}", *values]))
    return EXIT_OK


def _run(worker: _Worker, flags: Flags, arguments: Sequence[str]) -> int:
    from mosaic_worker.run import Run  # noqa: PLC0415 - not needed by --describe

    descriptor = worker.descriptor
    try:
        run = Run(heartbeat_s=flags.heartbeat_s)
    except WorkerError as error:
        worker.print_error(str(error))
        return EXIT_FAILED
    # At exit Python would collect garbage several times, which takes up to seconds with large
    # imports while the daemon waits for the process.
    atexit.register(gc.freeze)
    run.emitter.hello(
        descriptor.worker,
        descriptor.version,
        run_id=run.id,
        capabilities=dict(descriptor.supports._asdict()),
    )
    try:
        run.config = worker.resolve(flags)
    except ConfigError as error:
        worker.print_error(str(error))
        run.close("failed", error.message, error.remedy)
        return EXIT_USAGE
    if flags.emit_summary:
        print(json.dumps(_summary(worker, run.config, arguments), indent=2), file=sys.stderr)
    for warning in unknown_fields(run.config.raw):
        worker.print_error(warning)
        run.emitter.log("warning", UNKNOWN_FIELD, warning)
    if flags.grpc:
        run.emitter.log(
            "info", GRPC_NOT_NEEDED, "--grpc has no effect: telemetry is written to stdout."
        )
    _emit_config(run)
    if descriptor.supports.pause:
        run.allow_pause()
    run.open()
    return _execute(run, worker.work)


def _emit_config(run: Run) -> None:
    config = run.config
    run.emitter.config(
        run.id,
        config.algo,
        config.env_id,
        config.seed,
        config.arguments(),
        env_kwargs=config.env_kwargs,
        packages=installed_packages(),
    )


def installed_packages() -> dict[str, str]:
    """Name and version of every distribution in this environment, and of Python.

    They are read from the folder names that installers create: opening the metadata of each would
    take a third of a second at the start of every run.
    """
    import platform  # noqa: PLC0415 - not needed by --describe

    versions = {}
    for folder in reversed(sys.path):  # earlier entries override later ones
        try:
            entries = list(Path(folder).iterdir())
        except OSError:
            continue
        for entry in entries:
            name, dash, version = entry.stem.partition("-")
            if dash and entry.suffix in _DISTRIBUTION_SUFFIXES:
                name = name.lower().replace("_", "-").replace(".", "-")
                versions[name] = version.partition("-")[0]
    return {"python": platform.python_version(), **dict(sorted(versions.items()))}


def _execute(run: Run, work: Work) -> int:
    """Call `work`; always writes a last line and returns an exit code."""
    try:
        code = EXIT_OK if run.should_stop else work(run) or EXIT_OK
    except WorkerError as error:
        _print_cause(error)
        return _fail(run, error.message, error.remedy)
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except Exception as error:  # noqa: BLE001 - top level of the process
        traceback.print_exc(file=sys.stderr)
        return _fail(run, f"{type(error).__name__}: {error}")
    if run.emitter.broken:
        run.close("failed", run.emitter.broken)
        return EXIT_FAILED
    if code != EXIT_OK:
        run.close("failed", f"The worker exited with code {code}.", "See the run's log.")
    else:
        run.close("cancelled" if run.should_stop else "succeeded")
    return code


def _print_cause(error: WorkerError) -> None:
    """Print the traceback of a third-party exception; a WorkerError alone needs none."""
    cause: BaseException = error
    while isinstance(cause, WorkerError) and cause.__cause__ is not None:
        cause = cause.__cause__
    if not isinstance(cause, WorkerError):
        trace = cause.__traceback__
        traceback.print_exception(type(cause), cause, trace, chain=False, file=sys.stderr)


def _fail(run: Run, error: str, remedy: str = "See the traceback in the run's log.") -> int:
    run.close("failed", error[:_MAX_ERROR_CHARS], remedy)
    return EXIT_FAILED


def _summary(worker: _Worker, config: RunConfig, arguments: Sequence[str]) -> dict[str, Any]:
    module = _entry_module() or worker.descriptor.worker
    summary = {
        "worker": worker.descriptor.worker,
        "version": worker.descriptor.version,
        "module": module,
        "arguments": config.arguments(),
        "argv": [sys.executable, "-m", module, *_drop_dry_run_flags(arguments)],
        "python": sys.executable,
    }
    return {**summary, **(worker.plan(config) if worker.plan else {})}


def _entry_module() -> str:
    """The module that was started with `python -m`."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    name = getattr(spec, "name", None) or ""
    return name[: -len(".__main__")] if name.endswith(".__main__") else name


def _drop_dry_run_flags(arguments: Sequence[str]) -> list[str]:
    return [argument for argument in arguments if argument not in ("--dry-run", "--emit-summary")]


def _print_result(text: str) -> None:
    """Print to standard output, whose reader (such as `head`) may close it early."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
