"""`mosaic envs`: the environments of the catalog, and which are installed. Needs no daemon."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby

import click
import msgspec
from rich.text import Text

from mosaic.cli.commands import command
from mosaic.cli.completion import complete_environments
from mosaic.cli.options import home_option, json_option
from mosaic.cli.render import (
    print_fields,
    print_hidden_columns,
    print_json,
    print_message,
    print_table_rows,
    print_wrapped,
    result_console,
    state_text,
)
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import closest
from mosaic.contract.readiness import BundleInfo
from mosaic.envs import catalog
from mosaic.envs.entries import BUNDLE, EnvironmentEntry, Family
from mosaic.envs.key_maps import KeyMap, key_cap
from mosaic.trainer.bundles.bundle_store import BundleStore
from mosaic.trainer.daemon_settings import load_settings
from mosaic.trainer.workers.worker_catalog import WorkerCatalog
from mosaic.trainer.workers.worker_layout import CHECKOUT_WORKERS

_MISSING = "not installed"
_REPORTED_STATES = ("installing", "broken", "outdated")
_COLUMNS = ("ENVIRONMENT", "TITLE", "ACTIONS", "VIEWS")
_FAMILIES = [family.id for family in catalog.families()]
_MAX_SIMILAR = 3
_MAX_CHOICES = 12
_INDENT = "  "


def family_states(home: Home) -> dict[str, str]:
    """Return by family: ready, installing, broken, outdated or not installed.

    If the bundles cannot be read, the error is printed and the families count as not installed,
    because the catalog does not need them.
    """
    try:
        own = load_settings(home.settings, {}).own_worker_folders
        bundles = BundleStore(home, WorkerCatalog((CHECKOUT_WORKERS, *own))).list({})
    except UserError as error:
        print_message(f"{error.message} {error.remedy}".strip(), style="yellow")
        bundles = []
    matching = [info for info in bundles if info.name == BUNDLE]
    return {
        family.id: family_state(family, matching) for family in (*catalog.families(), catalog.OTHER)
    }


def family_state(family: Family, bundles: Sequence[BundleInfo]) -> str:
    """Return the best state among the bundles that include the family."""
    states = {info.state for info in bundles if family.extra is None or family.extra in info.extras}
    if "ready" in states:
        return "ready"
    return next((state for state in _REPORTED_STATES if state in states), _MISSING)


@command(examples=["mosaic envs --family minigrid", "mosaic envs FrozenLake-v1"])
@click.argument("env", required=False, shell_complete=complete_environments)
@click.option(
    "--family",
    type=click.Choice(_FAMILIES),
    metavar="ID",
    help=f"Only this family: {', '.join(_FAMILIES)}.",
)
@click.option(
    "--search", metavar="TEXT", help="Only environments with TEXT in name or description."
)
@json_option
@home_option
def envs(
    home: Home, env: str | None, family: str | None, search: str | None, as_json: bool
) -> None:
    """Show the environments and which are installed, or everything about one ENV.

    Any other id that is registered with Gymnasium works, too, also as module:Id.
    """
    if env and (family or search):
        raise click.UsageError("--family and --search cannot be combined with ENV.")
    states = family_states(home)
    if env:
        _show(catalog.environment(env), states, as_json)
        return
    entries = catalog.search(search) if search else catalog.environments()
    matching = [entry for entry in entries if family in (None, entry.family)]
    if as_json:
        print_json(
            {
                "families": [_family_document(family_id, states) for family_id in _FAMILIES],
                "environments": [_entry_document(entry, states) for entry in matching],
            }
        )
    elif matching:
        _print_list(matching, states)
    else:
        print_message(
            "Nothing in the catalog matches. Any id that is registered with Gymnasium works, too."
        )


def _show(entry: EnvironmentEntry, states: Mapping[str, str], as_json: bool) -> None:
    family, state = catalog.family(entry.family), states[entry.family]
    if entry.env_id in _FAMILIES:
        list_command = f"mosaic envs --family {entry.env_id}"
        raise click.UsageError(
            f"{entry.env_id} is a family of environments; list it with `{list_command}`."
        )
    suggestion = _suggest(entry) if entry.is_generated else ""
    if suggestion and not as_json:
        raise UserError(
            f"{entry.env_id} is not in the catalog.",
            remedy=f"{suggestion} Any other id works if it is registered with Gymnasium.",
            code="C192",
        )
    if as_json:
        print_json(
            {**msgspec.to_builtins(entry), "state": state, "installs": family.install_command}
        )
    else:
        print_environment(entry, family, state)
    if entry.is_generated:
        print_message(
            f"{entry.env_id} is not in the catalog; it works if it is registered with Gymnasium."
        )


def _suggest(entry: EnvironmentEntry) -> str:
    name = entry.env_id.rpartition(":")[2]
    similar = closest(name, (other.env_id for other in catalog.environments()))
    ids = [*([similar] if similar else ()), *(other.env_id for other in catalog.search(name))]
    listed = " or ".join(list(dict.fromkeys(ids))[:_MAX_SIMILAR])
    return f"Did you mean {listed}?" if listed else ""


def _print_list(entries: Sequence[EnvironmentEntry], states: Mapping[str, str]) -> None:
    console = result_console()
    hidden: list[str] = []
    # Search results are sorted by relevance; here they are grouped by family.
    by_family = sorted(entries, key=lambda entry: _FAMILIES.index(entry.family))
    for index, (family_id, members) in enumerate(groupby(by_family, lambda entry: entry.family)):
        family, state = catalog.family(family_id), states[family_id]
        header = Text("\n" if index else "").append(f"{family.title}  ", "bold")
        console.print(header + state_text(state), soft_wrap=True)
        if state != "ready":
            console.print(f"Run `{family.install_command}`.", soft_wrap=True)
        rows = [
            (
                entry.env_id,
                entry.title,
                f"{len(entry.action_meanings)} {entry.action_kind}",
                ", ".join(entry.views),
            )
            for entry in members
        ]
        hidden += print_table_rows(_COLUMNS, rows, cut=("TITLE",), hide=("TITLE", "ACTIONS"))
    print_hidden_columns(hidden)


def _family_document(family_id: str, states: Mapping[str, str]) -> dict[str, object]:
    family = catalog.family(family_id)
    return {
        **msgspec.to_builtins(family),
        "environments": len(catalog.environments(family_id)),
        "state": states[family_id],
        "installs": family.install_command,
    }


def _entry_document(entry: EnvironmentEntry, states: Mapping[str, str]) -> dict[str, object]:
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


def print_environment(entry: EnvironmentEntry, family: Family, state: str) -> None:
    """Print the description, settings and keys of an environment."""
    console = result_console()
    console.print(f"{entry.title}  {entry.env_id}", style="bold")
    console.print(f"{entry.summary}\n")
    _print_texts(entry)
    if entry.fields:
        console.print("\nSettings", style="bold")
        _print_settings(entry.fields)
    if entry.keys.keys:
        console.print("\nKeys", style="bold")
        _print_keys(entry.keys)
    console.print()
    print_fields(
        [
            ("family", family.title),
            ("state", state_text(state)),
            ("installed by", "" if state == "ready" else family.install_command),
            ("views", ", ".join(entry.views)),
            ("speed", _speed_text(entry)),
            ("play", f"mosaic play {entry.env_id}"),
        ]
    )


def _print_texts(entry: EnvironmentEntry) -> None:
    is_numbered = entry.action_kind == "discrete" and entry.action_meanings
    numbered = ", ".join(
        f"{index} {meaning}" for index, meaning in enumerate(entry.action_meanings)
    )
    sections = (
        ("goal", entry.goal),
        ("observation", entry.observation),
        ("actions", entry.actions),
        *((("", f"{numbered}."),) if is_numbered else ()),
        ("rewards", entry.rewards),
        ("episode end", entry.ends),
    )
    width = max(len(name) for name, _ in sections)
    for name, text in sections:
        print_wrapped(Text(text), header=Text(f"{name:<{width}}  ", "bold"))


def _print_settings(fields: tuple[Parameter, ...]) -> None:
    width = max(len(field.name) for field in fields)
    for group, members in groupby(fields, key=lambda field: field.group):
        if group:
            result_console().print(f"{_INDENT}{group}", style="italic")
        for field in members:
            header = f"{_INDENT}{field.name:<{width}}  "
            print_wrapped(Text(_type_text(field)), header=header)
            print_wrapped(Text(field.help, "dim"), header=" " * len(header))


def _type_text(field: Parameter) -> str:
    default = "" if field.default is None else f"; default {_value_text(field.default)}"
    if field.type == "choice":
        choices = [str(choice) for choice in field.choices[:_MAX_CHOICES]]
        more = ", …" if len(field.choices) > _MAX_CHOICES else ""
        return f"one of {', '.join(choices)}{more}{default}"
    names = {"int": "integer", "float": "number", "bool": "true or false", "str": "text"}
    bounds = [bound for bound in (field.min, field.max) if bound is not None]
    limits = " to ".join(map(_value_text, bounds)) if len(bounds) == 2 else ""
    parts = (names.get(field.type, field.type), limits, field.unit)
    return f"{' '.join(part for part in parts if part)}{default}"


def _value_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)


def _print_keys(keys: KeyMap) -> None:
    hints = [(" ".join(f"[{cap}]" for cap in hint.caps), hint.label) for hint in keys.hints()]
    width = max(len(caps) for caps, _ in hints)
    console = result_console()
    for caps, label in hints:
        console.print(f"{_INDENT}{caps:<{width}}  {label}", soft_wrap=True)
    for note in _key_notes(keys):
        console.print(f"{_INDENT}{note}", style="dim", soft_wrap=True)


def _key_notes(keys: KeyMap) -> list[str]:
    notes = []
    if any(len(binding.keys) > 1 for binding in keys.bindings) or len(keys.axes) > 1:
        notes.append("Keys can be held together.")
    if keys.aliases:
        pairs = [f"{key_cap(other)} for {key_cap(key)}" for other, key in keys.aliases.items()]
        notes.append(f"Also {', '.join(pairs)}.")
    devices = {source.partition("_")[0] for axis in keys.axes for source in axis.sources}
    if devices:
        notes.append(f"Also with {' or '.join(sorted(devices, reverse=True))}.")
    return notes


def _speed_text(entry: EnvironmentEntry) -> str:
    if entry.turn_based:
        return "turn-based"
    return f"{entry.render_fps:g} steps per second"
