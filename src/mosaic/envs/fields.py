"""Constructors of configuration fields, for the modules of `families`."""

from mosaic.contract.parameters import Parameter


def integer(
    name: str,
    default: int | None,
    low: int | None,
    high: int | None,
    help_: str,
    *,
    unit: str = "",
    group: str = "",
) -> Parameter:
    """Create an integer field; without a default the environment chooses."""
    return Parameter(
        name=name,
        type="int",
        default=default,
        min=low,
        max=high,
        help=help_,
        unit=unit,
        group=group,
    )


def number(
    name: str,
    default: float | None,
    low: float | None,
    high: float | None,
    help_: str,
    *,
    unit: str = "",
    group: str = "",
) -> Parameter:
    return Parameter(
        name=name,
        type="float",
        default=default,
        min=low,
        max=high,
        help=help_,
        unit=unit,
        group=group,
    )


def boolean(name: str, default: bool, help_: str, *, group: str = "") -> Parameter:
    return Parameter(name=name, type="bool", default=default, help=help_, group=group)


def choice(
    name: str,
    default: str | int | None,
    choices: tuple[str | int, ...],
    help_: str,
    *,
    group: str = "",
) -> Parameter:
    return Parameter(
        name=name, type="choice", default=default, choices=choices, help=help_, group=group
    )


def text(name: str, default: str | None, help_: str, *, group: str = "") -> Parameter:
    return Parameter(name=name, type="str", default=default, help=help_, group=group)
