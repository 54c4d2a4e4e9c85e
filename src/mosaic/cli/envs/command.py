"""`mosaic envs`: what can be played and trained in, and what installs the rest. Needs no daemon."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import click
import msgspec
from rich.text import Text

from mosaic.cli.completions import complete_environments
from mosaic.cli.envs.environment_view import print_environment
from mosaic.cli.envs.installed_families import family_states
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json, print_table, result_console, say, state_text
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.problems import closest
from mosaic.envs import catalog
from mosaic.envs.entries import EnvironmentEntry

_COLUMNS = ("ENVIRONMENT", "TITLE", "ACTIONS", "VIEWS")
_FAMILIES = [family.id for family in catalog.families()]
_MOST_SIMILAR = 3


@click.command()
@click.argument("env", required=False, shell_complete=complete_environments)
@click.option("--family", type=click.Choice(_FAMILIES), help="Only those of this family.")
@click.option("--search", metavar="TEXT", help="Only those whose name or description has TEXT.")
@json_option
@home_option
def envs(
    home: Home, env: str | None, family: str | None, search: str | None, as_json: bool
) -> None:
    """The environments there are and which are installed; of one ENV, everything about it.

    Any other id that gymnasium knows works too, also as module:Id.
    """
    if env and (family or search):
        raise click.UsageError("ENV stands alone: --family and --search are for the list.")
    states = family_states(home)
    if env:
        _show(catalog.environment(env), states, as_json)
        return
    listed = catalog.search(search) if search else catalog.environments()
    found = [entry for entry in listed if family in (None, entry.family)]
    if as_json:
        print_json(
            {
                "families": [_family_document(family_id, states) for family_id in _FAMILIES],
                "environments": [_brief(entry, states) for entry in found],
            }
        )
    elif found:
        _print_list(found, states)
    else:
        say("Nothing in the catalog fits. Any id that gymnasium knows works too.")


def _show(entry: EnvironmentEntry, states: Mapping[str, str], as_json: bool) -> None:
    family, state = catalog.family(entry.family), states[entry.family]
    if entry.env_id in _FAMILIES:
        ask = f"mosaic envs --family {entry.env_id}"
        raise click.UsageError(f"{entry.env_id} is a family of environments: `{ask}`.")
    similar = _similar(entry) if entry.is_generated else ""
    if similar and not as_json:
        raise UserError(
            f"{entry.env_id} is not in the catalog.",
            remedy=f"{similar} Any other id works if gymnasium knows it; play it to see.",
            code="C192",
        )
    if as_json:
        print_json({**msgspec.to_builtins(entry), "state": state, "installs": family.installs})
    else:
        print_environment(entry, family, state)
    if entry.is_generated:
        say(f"{entry.env_id} is not in the catalog; it works if gymnasium knows it.")


def _similar(entry: EnvironmentEntry) -> str:
    name = entry.env_id.rpartition(":")[2]
    near = closest(name, (each.env_id for each in catalog.environments()))
    ids = [*([near] if near else ()), *(each.env_id for each in catalog.search(name))]
    listed = " or ".join(list(dict.fromkeys(ids))[:_MOST_SIMILAR])
    return f"Did you mean {listed}?" if listed else ""


def _print_list(found: Sequence[EnvironmentEntry], states: Mapping[str, str]) -> None:
    console = result_console()
    # A search has its best first; here families stand together.
    by_family = sorted(found, key=lambda entry: _FAMILIES.index(entry.family))
    for at, (family_id, entries) in enumerate(groupby(by_family, lambda entry: entry.family)):
        family, state = catalog.family(family_id), states[family_id]
        head = Text("\n" if at else "").append(f"{family.title}  ", "bold")
        hint = "" if state == "ready" else f": {family.installs}"
        console.print(head + state_text(state) + hint, soft_wrap=True)
        rows = [
            (
                entry.env_id,
                entry.title,
                f"{len(entry.action_meanings)} {entry.action_kind}",
                ", ".join(entry.views),
            )
            for entry in entries
        ]
        print_table(_COLUMNS, rows, cut=("TITLE",))


def _family_document(family_id: str, states: Mapping[str, str]) -> dict[str, object]:
    family = catalog.family(family_id)
    return {
        **msgspec.to_builtins(family),
        "environments": len(catalog.environments(family_id)),
        "state": states[family_id],
        "installs": family.installs,
    }


def _brief(entry: EnvironmentEntry, states: Mapping[str, str]) -> dict[str, object]:
    return {
        "env_id": entry.env_id,
        "title": entry.title,
        "family": entry.family,
        "summary": entry.summary,
        "action_kind": entry.action_kind,
        "actions": len(entry.action_meanings),
        "views": entry.views,
        "turn_based": entry.turn_based,
        "render_fps": entry.render_fps,
        "max_episode_steps": entry.max_episode_steps,
        "state": states[entry.family],
    }
