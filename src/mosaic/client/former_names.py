"""Former names of the public client API, which notebooks and scripts may still use.

All of them are listed here: classes and functions by module, methods as `FormerName` attributes and
keyword arguments in `accept_former_keywords`. Code in this repository uses the current names.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Params = ParamSpec("Params")
Result = TypeVar("Result")

FORMER_NAMES: dict[str, dict[str, str]] = {
    "mosaic.client.errors": {
        "TooSlowError": "CallTimeoutError",
        "WrongTokenError": "InvalidTokenError",
    },
    "mosaic.client.resimulation": {"SimulationPart": "SimulationMessage"},
    "mosaic.client.results": {"RemovedBundles": "BundleRemoval"},
    "mosaic.client.presets": {
        "as_preset": "make_preset",
        "preset_name": "to_preset_name",
        "preset_names": "list_presets",
        "preset_text": "encode_preset",
    },
    "mosaic.client.sessions.session_state": {"EpisodeNow": "CurrentEpisode"},
    "mosaic.client.sweeps.search_space": {
        "SearchChoices": "CategoricalChoices",
        "SearchRange": "NumericRange",
        "Searched": "SearchDistribution",
        "checked": "validate_distribution",
        "described_space": "default_search_space",
        "described_values": "default_distribution",
    },
    "mosaic.client.sweeps.space_input": {
        "read_searches": "parse_search_options",
        "read_space_file": "read_search_space_file",
    },
    "mosaic.client.sweeps.sweep_plan": {
        "plan_in": "read_sweep_plan",
        "sweep_config": "make_sweep_config",
        "trial_config": "make_trial_config",
    },
}
"""By module: the former name and the current one."""


class FormerName:
    """Class attribute that forwards to the attribute with the current name."""

    def __init__(self, current: str) -> None:
        self._current = current

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        return getattr(owner if instance is None else instance, self._current)


class FormerClientNames:
    """Former method names of `TrainerClient`."""

    environment_picture = FormerName("environment_thumbnail")
    hold = FormerName("renew_lease")
    page = FormerName("runs_page")


def resolve_former_names(module: str) -> Callable[[str], Any]:
    """Return a module-level `__getattr__` that resolves the former names of `module`."""

    def resolve(name: str) -> Any:
        current = FORMER_NAMES[module].get(name)
        if current is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(importlib.import_module(module), current)

    return resolve


def accept_former_keywords(
    **current_names: str,
) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Decorate a function to accept former keyword arguments: `former="current"`."""

    def decorate(function: Callable[Params, Result]) -> Callable[Params, Result]:
        @functools.wraps(function)
        def call(*args: Params.args, **kwargs: Params.kwargs) -> Result:
            for former, current in current_names.items():
                if former in kwargs:
                    kwargs[current] = kwargs.pop(former)
            return function(*args, **kwargs)

        return call

    return decorate
