"""`mosaic completion`: the script that a shell reads."""

import click
from click.shell_completion import get_completion_class

_HOW = {
    "bash": 'eval "$(mosaic completion bash)"   in ~/.bashrc',
    "zsh": 'eval "$(mosaic completion zsh)"   in ~/.zshrc',
    "fish": "mosaic completion fish > ~/.config/fish/completions/mosaic.fish",
}


@click.command(
    epilog="\b\n" + "\n".join(f"{shell}: {line}" for shell, line in _HOW.items()),
)
@click.argument("shell", type=click.Choice(sorted(_HOW)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options, runs and workers in your shell."""
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    root = ctx.find_root().command
    click.echo(script(root, {}, "mosaic", "_MOSAIC_COMPLETE").source())
