"""One environment of the catalog on a terminal: what it is, what can be set, which keys act."""

import json
from itertools import groupby

from rich.text import Text

from mosaic.cli.output import print_fields, result_console, state_text
from mosaic.contract.parameters import Parameter
from mosaic.envs.entries import EnvironmentEntry, Family
from mosaic.envs.key_maps import KeyMap, key_cap

_MOST_CHOICES = 12
_NARROWEST = 20
_INDENT = "  "


def print_environment(entry: EnvironmentEntry, family: Family, state: str) -> None:
    """Everything the catalog knows of it."""
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
            ("installed by", "" if state == "ready" else family.installs),
            ("views", ", ".join(entry.views)),
            ("pace", _pace(entry)),
            ("play it", f"mosaic play {entry.env_id}"),
        ]
    )


def _print_texts(entry: EnvironmentEntry) -> None:
    is_numbered = entry.action_kind == "discrete" and entry.action_meanings
    numbered = ", ".join(f"{at} {what}" for at, what in enumerate(entry.action_meanings))
    told = (
        ("goal", entry.goal),
        ("observation", entry.observation),
        ("actions", entry.actions),
        *((("", f"{numbered}."),) if is_numbered else ()),
        ("rewards", entry.rewards),
        ("ends", entry.ends),
    )
    width = max(len(name) for name, _ in told)
    for name, text in told:
        _print_beside(Text(f"{name:<{width}}  ", "bold"), Text(text))


def _print_settings(fields: tuple[Parameter, ...]) -> None:
    width = max(len(field.name) for field in fields)
    for group, members in groupby(fields, key=lambda field: field.group):
        if group:
            result_console().print(f"{_INDENT}{group}", style="italic")
        for field in members:
            _print_beside(Text(f"{_INDENT}{field.name:<{width}}  "), Text(_kind(field)))
            _print_beside(Text(f"{_INDENT}{'':<{width}}  "), Text(field.help, "dim"))


def _print_beside(head: Text, text: Text) -> None:
    """The text as wide as the terminal, its further lines under the first."""
    console = result_console()
    for line in text.wrap(console, max(_NARROWEST, console.width - head.cell_len)):
        line.rstrip()
        console.print(head + line, soft_wrap=True)
        head = Text(" " * head.cell_len)


def _kind(field: Parameter) -> str:
    default = "" if field.default is None else f"; {_number(field.default)} by default"
    if field.type == "choice":
        shown = [str(choice) for choice in field.choices[:_MOST_CHOICES]]
        more = ", …" if len(field.choices) > _MOST_CHOICES else ""
        return f"one of {', '.join(shown)}{more}{default}"
    words = {"int": "whole number", "float": "number", "bool": "true or false", "str": "text"}
    bounds = [bound for bound in (field.min, field.max) if bound is not None]
    limits = " to ".join(map(_number, bounds)) if len(bounds) == 2 else ""
    parts = (words.get(field.type, field.type), limits, field.unit)
    return f"{' '.join(part for part in parts if part)}{default}"


def _number(value: object) -> str:
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
        notes.append(f"Also by {' or '.join(sorted(devices, reverse=True))}.")
    return notes


def _pace(entry: EnvironmentEntry) -> str:
    if entry.turn_based:
        return "waits for you"
    return f"{entry.render_fps:g} steps a second"
