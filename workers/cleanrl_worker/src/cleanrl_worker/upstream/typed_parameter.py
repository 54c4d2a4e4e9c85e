"""A parameter for a form, from what a script's source or help says about one of its flags."""

from __future__ import annotations

import shlex
from typing import Any

from cleanrl_worker.upstream.literal_values import UNKNOWN
from mosaic_worker import Parameter


def typed_parameter(
    name: str, kind: str, default: Any, choices: tuple[Any, ...] = (), words: str = ""
) -> Parameter:
    """A default that is unknown, or not of its own type, is left to the script."""
    if isinstance(default, (list, tuple)):
        default = shlex.join(str(each) for each in default)
    known = None if default is UNKNOWN else default
    parameter = Parameter(
        name, "choice" if choices else kind, known, choices=choices, help=" ".join(words.split())
    )
    try:
        parameter.check()
    except ValueError:
        return parameter._replace(default=None)
    return parameter
