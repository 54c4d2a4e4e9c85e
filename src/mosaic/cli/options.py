"""Options and arguments that several commands share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from mosaic.cli.commands import HOME_KEY
from mosaic.cli.completion import complete_presets, complete_runs
from mosaic.contract.layout import HOME_VARIABLE, Home

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def home_option(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """`--home DIR`, before the command or after it; the command receives a `Home`."""
    return click.option(
        "--home",
        type=click.Path(file_okay=False),
        metavar="DIR",
        callback=_locate_home,
        help=f"Directory of runs and settings. Default: ${HOME_VARIABLE}.",
    )(command)


def json_option(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """`--json`: one document on stdout; messages and progress stay on stderr."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
    )(command)


def run_argument(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """RUN: an id, its beginning or end, a name, or `last`."""
    return click.argument("run", shell_complete=complete_runs)(command)


def runs_argument(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """RUN …: one or more runs."""
    return click.argument("runs", nargs=-1, required=True, shell_complete=complete_runs)(command)


yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
force_option = click.option("--force", is_flag=True, help="Start even if preflight fails.")
detach_option = click.option(
    "--detach", "-d", is_flag=True, help="Start in the background and return at once."
)
name_option = click.option("--name", help="Display name. The id is generated.")
env_args_option = click.option(
    "--env-arg",
    "env_args",
    multiple=True,
    metavar="NAME=VALUE",
    help="Keyword argument for gymnasium.make; repeatable.",
)
extras_option = click.option(
    "--extra", "extras", multiple=True, help="Extra of the bundle, such as atari; repeatable."
)
frames_option = click.option("--frames", is_flag=True, help="Render frames for live views.")
path_option = click.option(
    "--path", multiple=True, metavar="DIR", help="Folder with your own modules; repeatable."
)
imported_code_option = click.option(
    "--use-imported-code",
    is_flag=True,
    help="Run code that the configuration of an imported run names.",
)
IMPORTED_CODE_REMEDY = "Check that code, then pass --use-imported-code."
preset_option = click.option(
    "--preset",
    metavar="NAME|FILE",
    shell_complete=complete_presets,
    help="Saved configuration to start from; options override it.",
)
script_option = click.option(
    "--script",
    metavar="PATH",
    callback=lambda _ctx, _parameter, value: resolve_script(value),
    help="Your own training script, if the worker supports scripts.",
)


def resolve_folders(paths: Sequence[str], *names: str) -> tuple[str, ...]:
    """Return the folders of `--path` as absolute paths.

    The current folder is added if it holds the module of a `module:Name`, because a run has a
    working directory of its own.
    """
    folders = [Path(folder).expanduser() for folder in paths]
    for folder in folders:
        if not folder.is_dir():
            raise click.UsageError(f"--path {folder}: there is no such folder.")
    current = Path.cwd()
    for name in names:
        module = name.rpartition(":")[0].partition(".")[0]
        if module and ((current / f"{module}.py").is_file() or (current / module).is_dir()):
            folders.append(current)
    return tuple(dict.fromkeys(str(folder.resolve()) for folder in folders))


def resolve_script(script: str | None) -> str | None:
    """Return the absolute path of a script; the name of a module is returned unchanged."""
    if script is None:
        return None
    path = Path(script).expanduser()
    is_file = path.is_file()
    if not is_file and "/" not in script and not script.endswith(".py"):
        return script
    if not is_file:
        raise click.UsageError(f"--script {script}: there is no such file.")
    return str(path.absolute())


def confirm_deletion() -> None:
    """Ask before deleting. Raises `click.Abort`, or `click.UsageError` without a terminal."""
    try:
        is_confirmed = click.confirm("Delete permanently?", err=True)
    except click.Abort:
        raise click.UsageError("Not a terminal; pass --yes to delete permanently.") from None
    if not is_confirmed:
        raise click.Abort


def _locate_home(ctx: click.Context, _: click.Parameter, value: str | None) -> Home:
    return Home.locate(value or ctx.meta.get(HOME_KEY))
