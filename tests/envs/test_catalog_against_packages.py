"""The catalog matches gymnasium, ale-py and minigrid: ids, keyword arguments, numbers, spaces."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mosaic.contract.parameters import Parameter
from mosaic.envs import catalog
from mosaic.envs.configuration import env_kwargs
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.families.atari_controls import actions_of, difficulties_of, modes_of
from mosaic.envs.frozen_lake_maps import MAP_FIELDS
from mosaic_worker.environments.spaces import describe_space, to_action

LISTED = catalog.environments()
NO_DEFAULT = object()
OLDER_ATARI = tuple(
    catalog.environment(f"{game}{skip}-v{version}")
    for game in ("Breakout", "Pong", "Seaquest")
    for skip in ("", "NoFrameskip")
    for version in (0, 4)
)

pytestmark = pytest.mark.filterwarnings(
    # The packages warn about each other and about themselves.
    "ignore"
)


def env_class(gymnasium: Any, env_id: str) -> Any:
    """Return the class of an id."""
    module, _, name = gymnasium.registry[env_id].entry_point.partition(":")
    return getattr(importlib.import_module(module), name)


def keyword_defaults(gymnasium: Any, env_id: str) -> dict[str, Any]:
    """Return all keyword arguments of `make` for the id, with their defaults."""
    defaults: dict[str, Any] = {}
    for cls in env_class(gymnasium, env_id).__mro__:
        if "__init__" not in vars(cls):
            continue
        parameters = inspect.signature(cls.__init__).parameters
        for parameter in parameters.values():
            empty = parameter.default is inspect.Parameter.empty
            defaults.setdefault(parameter.name, NO_DEFAULT if empty else parameter.default)
        if not any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values()):
            break
    return {**defaults, **gymnasium.registry[env_id].kwargs}


def plain_fields(entry: EnvironmentEntry) -> Iterator[Parameter]:
    """Yield the fields that are keyword arguments with the same name."""
    paired = {name for pair in entry.pairs for name in pair.fields}
    special = {*paired, *(MAP_FIELDS if entry.map_field else ())}
    return (field for field in entry.fields if field.name not in special)


@pytest.mark.parametrize("entry", [*LISTED, *OLDER_ATARI], ids=lambda entry: entry.env_id)
def test_every_field_is_a_keyword_with_the_same_default(
    gymnasium: Any, entry: EnvironmentEntry
) -> None:
    """A form shows the defaults of the environment."""
    assert entry.env_id in gymnasium.registry
    keywords = keyword_defaults(gymnasium, entry.env_id)
    for field in plain_fields(entry):
        assert field.name in keywords, field.name
        real = keywords[field.name]
        # A random frame skip is a pair of numbers, for which the field has no value.
        expected = None if field.name == "frameskip" and isinstance(real, tuple) else real
        assert field.default == expected, field.name
        assert isinstance(field.default, bool) == isinstance(expected, bool), field.name
    for pair in entry.pairs:
        real = keywords[pair.keyword]
        chosen = tuple(entry.defaults[name] for name in pair.fields)
        assert chosen == (real if real is not None else (None, None)), pair.keyword
    if entry.map_field:
        assert entry.defaults["map_name"] == keywords["map_name"]
        assert keywords[entry.map_field] is None


def test_the_newest_versions_are_listed(gymnasium: Any) -> None:
    """Every environment of these packages, in its newest version."""
    newest: dict[tuple[str | None, str], Any] = {}
    for env_id, spec in gymnasium.registry.items():
        if is_described(env_id, spec):
            other = newest.get((spec.namespace, spec.name))
            if other is None or other.version < spec.version:
                newest[spec.namespace, spec.name] = spec
    listed = {entry.env_id for entry in LISTED}
    assert {spec.id for spec in newest.values()} <= listed


def is_described(env_id: str, spec: Any) -> bool:
    """Return whether the catalog should list the id."""
    return (
        isinstance(spec.entry_point, str)
        and spec.entry_point.startswith(("gymnasium.envs.", "ale_py.", "minigrid."))
        and spec.namespace == ("ALE" if spec.entry_point.startswith("ale_py.") else None)
        # These need another package, which minigrid does not install.
        and not env_id.startswith("MiniGrid-WFC-")
    )


@pytest.mark.parametrize(
    "entry",
    [entry for entry in LISTED if entry.family != "atari" and "BabyAI" not in entry.env_id],
    ids=lambda entry: entry.env_id,
)
def test_descriptions_match_the_environments(
    make_entry: Callable[..., Any], entry: EnvironmentEntry
) -> None:
    """Kind and number of actions, actions of keys, step limit and frame rate."""
    env = make_entry(entry)
    try:
        check_actions(entry, env)
        assert env.spec.max_episode_steps == entry.max_episode_steps
        assert env.metadata["render_fps"] == entry.render_fps
    finally:
        env.close()


def check_actions(entry: EnvironmentEntry, env: Any) -> None:
    """Check that the action space accepts every action that keys can send."""
    space = env.action_space
    assert entry.keys.fits(describe_space(space))
    size = space.n if entry.action_kind == "discrete" else space.shape[0]
    assert len(entry.action_meanings) == size
    for pressed in ([], *([key] for key in entry.keys.keys)):
        action = entry.keys.action_for(pressed, dt_s=1.0)
        assert action is None or space.contains(to_action(space, action))
    for axis in entry.keys.axes:
        assert space.low[axis.index] <= axis.low
        assert axis.high <= space.high[axis.index] + 1e-6


@pytest.mark.parametrize(
    "entry",
    [entry for entry in LISTED if entry.family not in ("atari", "minigrid")]
    + [entry for entry in LISTED if entry.env_id.startswith("MiniGrid") and entry.pairs][::4]
    + [catalog.environment("MiniGrid-MultiRoom-N6-v0"), catalog.environment("BabyAI-GoTo-v0")]
    + [catalog.environment("ALE/Pong-v5")],
    ids=lambda entry: entry.env_id,
)
def test_every_field_can_be_changed(
    make_entry: Callable[..., Any], entry: EnvironmentEntry
) -> None:
    """The environment starts with a value other than the default in every field."""
    values = {field.name: other_value(field) for field in entry.fields}
    for low, high in entry.ranges:
        values[low], values[high] = sorted((values[low], values[high]))
    if entry.map_field:
        values |= {"map_name": "custom", "desc": "SFF/FHF/FFG"}
    keywords = env_kwargs(entry, values)
    assert bool(keywords) == bool(entry.fields)
    env = make_entry(entry, **keywords)
    try:
        env.reset(seed=1)
        env.step(env.action_space.sample())
    finally:
        env.close()


def other_value(field: Parameter) -> Any:
    """Return a valid value that is not the default."""
    match field.type:
        case "bool":
            return not field.default
        case "choice":
            return next(value for value in field.choices if value not in (field.default, "custom"))
        case "int":
            low = field.min or 0
            return low if low != field.default else low + 1
        case "float":
            return field.min if field.min != field.default else field.max
        case _:
            return field.default


@pytest.mark.parametrize("game", [entry.env_id[4:-3] for entry in catalog.environments("atari")])
def test_actions_modes_and_difficulties_match_the_roms(gymnasium: Any, game: str) -> None:
    """The emulator reads them from the ROM."""
    ale_py = importlib.import_module("ale_py")
    roms = importlib.import_module("ale_py.roms")
    ale = ale_py.ALEInterface()
    ale.loadROM(roms.get_rom_path(gymnasium.registry[f"ALE/{game}-v5"].kwargs["game"]))
    assert tuple(action.name for action in ale.getMinimalActionSet()) == actions_of(game)
    assert tuple(ale.getAvailableModes()) == modes_of(game)
    assert tuple(ale.getAvailableDifficulties()) == difficulties_of(game)
