"""The command line that every worker has, and the life of a run from start to exit code."""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import traceback
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

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_WRONG_USE = 2

UNKNOWN_FIELD = "W121"
"""A field of the run's configuration is not known and has no effect."""

GRPC_NOT_NEEDED = "W120"
"""--grpc is not needed: telemetry goes through stdout."""

_MAX_ERROR_LETTERS = 10_000


class _Worker(NamedTuple):
    """What the author of a worker gave to `main`."""

    descriptor: Descriptor
    work: Work
    plan: Plan | None
    describe_script: DescribeScript | None

    def resolve(self, flags: Flags) -> RunConfig:
        return resolve(
            read_config(flags.config), self.descriptor, flags.overrides, self.describe_script
        )

    def say(self, message: str) -> None:
        print(f"{self.descriptor.worker}: {message}", file=sys.stderr)


def main(
    descriptor: Descriptor,
    work: Work,
    argv: Sequence[str] | None = None,
    plan: Plan | None = None,
    describe_script: DescribeScript | None = None,
) -> int:
    """Run a worker from its command line; returns the exit code.

    `work` trains: it gets a `Run`, looks at `run.should_stop`, and returns None or an exit code.
    `plan` may say more about what would run: a dict that replaces entries of the summary.
    `describe_script` is for a worker that runs other people's scripts: it says what a script is
    and which parameters it has, with the standard library alone and without running it.
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
            worker.say(str(error))
            return EXIT_WRONG_USE
        descriptor = descriptor._replace(algorithms=(algorithm,))
    _answer(json.dumps(descriptor.to_json(), indent=2))
    return EXIT_DONE


def _dry_run(worker: _Worker, flags: Flags, arguments: Sequence[str]) -> int:
    try:
        config = worker.resolve(flags)
        summary = _summary(worker, config, arguments)
    except WorkerError as error:
        worker.say(str(error))
        return EXIT_WRONG_USE
    for sentence in unknown_fields(config.raw):
        worker.say(sentence)
    if flags.emit_summary:
        _answer(json.dumps(summary, indent=2))
        return EXIT_DONE
    values = [f"  {name} = {value}" for name, value in summary["arguments"].items()]
    name = worker.descriptor.worker
    _answer("\n".join([f"{name} would run: {' '.join(summary['argv'])}", *values]))
    return EXIT_DONE


def _run(worker: _Worker, flags: Flags, arguments: Sequence[str]) -> int:
    from mosaic_worker.run import Run  # noqa: PLC0415 - --describe needs none of it

    descriptor = worker.descriptor
    try:
        run = Run(heartbeat_s=flags.heartbeat_s)
    except WorkerError as error:
        worker.say(str(error))
        return EXIT_FAILED
    # All is said by then, and whoever stopped the run waits: on the way out Python would look
    # through everything that was imported for garbage, several times, for up to seconds.
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
        worker.say(str(error))
        run.close("failed", error.message, error.remedy)
        return EXIT_WRONG_USE
    if flags.emit_summary:
        print(json.dumps(_summary(worker, run.config, arguments), indent=2), file=sys.stderr)
    for sentence in unknown_fields(run.config.raw):
        worker.say(sentence)
        run.emitter.log("warning", UNKNOWN_FIELD, sentence)
    if flags.grpc:
        run.emitter.log(
            "info", GRPC_NOT_NEEDED, "--grpc is not needed: telemetry goes through stdout."
        )
    _announce(run)
    if descriptor.supports.pause:
        run.allow_pause()
    run.open()
    return _live(run, worker.work)


def _announce(run: Run) -> None:
    from mosaic_worker.packages import installed_packages  # noqa: PLC0415 - only a run needs it

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


def _live(run: Run, work: Work) -> int:
    """The process's edge: whatever happens in `work`, a last line and an exit code come of it."""
    try:
        code = EXIT_DONE if run.should_stop else work(run) or EXIT_DONE
    except WorkerError as error:
        _print_foreign_cause(error)
        return _failed(run, error.message, error.remedy)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except Exception as error:  # noqa: BLE001 - the process's edge
        traceback.print_exc(file=sys.stderr)
        return _failed(run, f"{type(error).__name__}: {error}")
    if run.emitter.broken:
        run.close("failed", run.emitter.broken)
        return EXIT_FAILED
    if code != EXIT_DONE:
        run.close("failed", f"The worker ended with exit code {code}.", "Look at the run's log.")
    else:
        run.close("cancelled" if run.should_stop else "succeeded")
    return code


def _print_foreign_cause(error: WorkerError) -> None:
    """Our own sentences say it all; what led to them in somebody else's code is worth a look."""
    cause: BaseException = error
    while isinstance(cause, WorkerError) and cause.__cause__ is not None:
        cause = cause.__cause__
    if not isinstance(cause, WorkerError):
        trace = cause.__traceback__
        traceback.print_exception(type(cause), cause, trace, chain=False, file=sys.stderr)


def _failed(run: Run, error: str, remedy: str = "Look at the traceback in the run's log.") -> int:
    run.close("failed", error[:_MAX_ERROR_LETTERS], remedy)
    return EXIT_FAILED


def _summary(worker: _Worker, config: RunConfig, arguments: Sequence[str]) -> dict[str, Any]:
    module = _entry_module() or worker.descriptor.worker
    summary = {
        "worker": worker.descriptor.worker,
        "version": worker.descriptor.version,
        "module": module,
        "arguments": config.arguments(),
        "argv": [sys.executable, "-m", module, *_without_questions(arguments)],
        "python": sys.executable,
    }
    return {**summary, **(worker.plan(config) if worker.plan else {})}


def _entry_module() -> str:
    """The module that `python -m` was given."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    name = getattr(spec, "name", None) or ""
    return name[: -len(".__main__")] if name.endswith(".__main__") else name


def _without_questions(arguments: Sequence[str]) -> list[str]:
    return [word for word in arguments if word not in ("--dry-run", "--emit-summary")]


def _answer(text: str) -> None:
    """To standard output, whose reader (`head`, say) may leave before the end."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
