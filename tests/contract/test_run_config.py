"""A run configuration is accepted, or rejected with every problem and a remedy for each."""

import enum
import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mosaic.contract.json_value import MAX_DEPTH, MAX_DOCUMENT_BYTES
from mosaic.contract.run_config import RunConfigError, TrainRunConfig, load_run_config, to_json

MINIMAL: dict[str, Any] = {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0"}
WITHOUT_DEADLINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""No deadline, because the machine may be busy."""


def load_error(**changes: Any) -> RunConfigError:
    with pytest.raises(RunConfigError) as caught:
        load_run_config(MINIMAL | changes)
    return caught.value


def fields_of(error: RunConfigError) -> list[str]:
    return [problem.field for problem in error.problems]


def test_required_fields() -> None:
    """Worker, algorithm and environment are enough; the rest has defaults."""
    config = load_run_config(MINIMAL)
    assert (config.mode, config.seed, config.launcher) == ("train", 1, "local")
    assert config.telemetry.steps == "auto"


def test_stored_form_is_complete() -> None:
    """A stored configuration has every field, including `artifacts` and `metadata`."""
    stored = json.loads(to_json(load_run_config(MINIMAL)))
    assert set(stored) == set(TrainRunConfig.__struct_fields__)
    assert stored["metadata"] == {}
    assert set(stored["artifacts"]) == {"tensorboard", "wandb", "video", "checkpoints"}


def test_every_field_is_accepted() -> None:
    """A configuration that sets every field round-trips."""
    full = {
        "run_name": "Überlauf 3",
        "worker": "cleanrl_worker",
        "mode": "evaluate",
        "algo": "ppo",
        "env_id": "my_package.envs:Maze-v0",
        "env_kwargs": {"size": 4},
        "seed": 2**63 - 1,
        "total_timesteps": 1000,
        "max_episodes": 5,
        "params": {"learning_rate": 2.5e-4, "layers": [64, 64]},
        "extra_args": {"--compile": True},
        "agent_id": "agent_1",
        "worker_id": "w-1",
        "bundle": {"name": "cleanrl", "extras": ["atari", "mujoco"]},
        "warm_start": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "dataset": "pendulum-1",
        "telemetry": {"steps": "columns", "frames": True},
        "actor": "human",
        "episodes": 10,
        "seeds": [1, 2],
        "script": "/home/someone/cleanrl/ppo.py",
        "parent_run": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "priority": -5,
        "time_limit_s": 60.5,
        "lease_s": 30.0,
        "python_path": ["/home/ada/environments"],
        "artifacts": {
            "tensorboard": {"enabled": False},
            "wandb": {
                "enabled": True,
                "project": "p",
                "entity": "e",
                "mode": "offline",
                "proxy": "http://proxy:3128",
            },
            "video": {"enabled": True, "every_episodes": 2, "max_frames": 3},
            "checkpoints": {"every_steps": 100, "keep": 1},
        },
        "resources": {"cpus": 2, "gpus": 1, "memory_mb": 512},
        "launcher": "ray",
        "metadata": {"notes": "first\nsecond"},
    }
    assert json.loads(to_json(load_run_config(json.dumps(full).encode()))) == full


def test_bytes_do_not_depend_on_key_order() -> None:
    """Equal configurations are stored as equal bytes."""
    one = load_run_config(MINIMAL | {"params": {"a": 1, "b": {"c": 2, "d": 3}}})
    other = load_run_config({"params": {"b": {"d": 3, "c": 2}, "a": 1}} | MINIMAL)
    assert to_json(one) == to_json(other)


def test_the_document_is_copied() -> None:
    """Changing the document afterwards does not change the configuration."""
    params = {"layers": [64]}
    config = load_run_config(MINIMAL | {"params": params})
    params["layers"].append(32)
    assert config.params == {"layers": [64]}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": "1"}, "seed"),
        ({"seed": 1.0}, "seed"),
        ({"total_timesteps": 0}, "total_timesteps"),
        ({"time_limit_s": 0}, "time_limit_s"),
        ({"lease_s": 0}, "lease_s"),
        ({"time_limit_s": math.inf}, "time_limit_s"),
        ({"mode": "trian"}, "mode"),
        ({"launcher": None}, "launcher"),
        ({"env_id": ""}, "env_id"),
        ({"env_id": "a b"}, "env_id"),
        ({"env_id": "CartPole-v1\n"}, "env_id"),
        ({"env_id": "../../secret"}, "env_id"),
        ({"run_name": "bell\a"}, "run_name"),
        ({"run_name": "nul\0"}, "run_name"),
        ({"run_name": "turned \u202e round"}, "run_name"),
        ({"run_name": "x" * 201}, "run_name"),
        ({"worker": "../echo"}, "worker"),
        ({"parent_run": "not-a-ulid"}, "parent_run"),
        ({"seeds": [1, -2]}, "seeds[1]"),
        ({"bundle": {"name": 1, "extras": []}}, "bundle.name"),
        ({"bundle": {"name": "b", "extras": ["ok", 3]}}, "bundle.extras[1]"),
        ({"artifacts": {"video": {"every_episodes": 0}}}, "artifacts.video.every_episodes"),
        ({"artifacts": {"wandb": {"mode": "of"}}}, "artifacts.wandb.mode"),
        ({"artifacts": []}, "artifacts"),
        ({"resources": {"cpus": 0}}, "resources.cpus"),
        ({"metadata": None}, "metadata"),
        ({"params": {"lr": math.nan}}, "params.lr"),
        ({"params": {"n": 2**63}}, "params.n"),
        ({"params": {"deep": [{"x": -math.inf}]}}, "params.deep[0].x"),
        ({"params": {"s": "a\0b"}}, "params.s"),
        ({"metadata": {"s": "\ud800"}}, "metadata.s"),
        ({"metadata": {"when": {1, 2}}}, "metadata.when"),
        ({"metadata": {1: 2}}, "metadata"),
    ],
)
def test_wrong_value_is_named(change: dict[str, Any], field: str) -> None:
    """The error has the path of the field and a remedy."""
    error = load_error(**change)
    assert fields_of(error) == [field]
    assert field in str(error)
    assert error.remedy


def test_missing_fields_are_named() -> None:
    """Required fields that are missing."""
    with pytest.raises(RunConfigError) as caught:
        load_run_config(b"{}")
    assert {problem.field for problem in caught.value.problems} == {"worker", "env_id", "algo"}
    assert {problem.kind for problem in caught.value.problems} == {"missing"}


@pytest.mark.parametrize("change", [{"mode": "play"}, {"mode": "evaluate"}, {"script": "ppo.py"}])
def test_algo_is_needed_only_to_learn(change: dict[str, Any]) -> None:
    """Playing, evaluating and running a script need no algorithm."""
    config = load_run_config({"worker": "w", "env_id": "E-v0"} | change)
    assert config.algo is None


def test_all_problems_are_reported_at_once() -> None:
    """One attempt shows everything that has to be corrected."""
    error = load_error(
        seed=-1, launcher="moon", parms={}, artifacts={"video": {"max_frames": "many"}}
    )
    assert set(fields_of(error)) == {"seed", "launcher", "parms", "artifacts.video.max_frames"}
    assert all(field in error.message for field in fields_of(error))


@pytest.mark.parametrize(
    ("change", "field", "meant"),
    [
        ({"total_timestep": 5}, "total_timestep", "`total_timesteps`"),
        ({"Env-Kwargs": {}}, "Env-Kwargs", "`env_kwargs`"),
        ({"telemetry": {"step": "all"}}, "telemetry.step", "`steps`"),
        ({"mode": "trian"}, "mode", '"train"'),
    ],
)
def test_misspelling_is_recognised(change: dict[str, Any], field: str, meant: str) -> None:
    """The error suggests the field or choice that was probably meant."""
    error = load_error(**change)
    assert fields_of(error) == [field]
    assert f"Did you mean {meant}?" in error.remedy


@pytest.mark.parametrize(
    ("artifacts", "field"),
    [
        ({"tensorbord": {}}, "artifacts.tensorbord"),
        ({"video": {"fps": 30}}, "artifacts.video.fps"),
    ],
)
def test_stray_artifact_field_has_its_code(artifacts: dict[str, Any], field: str) -> None:
    """An unknown key under `artifacts` is rejected with LOG705 and its name."""
    error = load_error(artifacts=artifacts)
    assert error.code == "LOG705"
    assert str(error).startswith("LOG705 ")
    assert fields_of(error) == [field]


@pytest.mark.parametrize(
    "change",
    [
        {"params": {"WANDB_API_KEY": "s3cr3t-value"}},
        {"extra_args": {"--openai-api-key": "s3cr3t-value"}},
        {"metadata": {"nested": [{"hfToken": "s3cr3t-value"}]}},
        {"env_kwargs": {"password": "s3cr3t-value"}},
        {"wandb_api_key": "s3cr3t-value"},
        {"artifacts": {"wandb": {"api_key": "s3cr3t-value"}}},
        {"metadata": {"argv": ["--api-key=s3cr3t-value"]}},
        {"metadata": {"--api-key=s3cr3t-value": True}},
        {"artifacts": {"wandb": {"proxy": "http://me:s3cr3t-value@proxy"}}},
    ],
)
def test_secret_is_rejected_and_not_quoted(change: dict[str, Any]) -> None:
    """The error says where secrets belong, and does not show the value."""
    error = load_error(**change)
    assert [problem.kind for problem in error.problems] == ["secret"]
    assert "environment variable" in error.remedy
    assert "s3cr3t" not in str(error)


def test_text_is_never_repeated() -> None:
    """Text in the wrong field may be a secret, so messages do not quote it."""
    error = load_error(seed="s3cr3t", mode="s3cr3t", run_name="s3cr3t\n", bundle="s3cr3t")
    assert len(error.problems) == 4
    assert "s3cr3t" not in str(error)


def test_hostile_key_is_escaped() -> None:
    """A key cannot put control characters or kilobytes into a message."""
    error = load_error(**{"\x1b[31m" + "x" * 5000: 1})
    assert "\x1b" not in str(error)
    assert len(str(error)) < 500


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff{}", "not JSON"),
        (b'{"worker": "\xff"}', "not UTF-8"),
        (b"[]", "a list"),
        (b"null", "null"),
        (b'{"seed": NaN}', "not JSON"),
        (b"[" * 100_000, "nested"),
        (b'{"metadata": "' + b"x" * MAX_DOCUMENT_BYTES + b'"}', "1024 KiB"),
    ],
)
def test_invalid_document_is_rejected(data: bytes, reason: str) -> None:
    """Broken, huge and foreign input is a readable error."""
    with pytest.raises(RunConfigError, match=reason):
        load_run_config(data)


def test_depth_is_limited() -> None:
    """A document nested beyond the limit is rejected, and a cyclic one."""
    nested: Any = 1
    for _ in range(MAX_DEPTH - 2):
        nested = [nested]
    assert load_run_config(MINIMAL | {"params": {"x": nested}}).params == {"x": nested}
    assert "nested" in str(load_error(params={"x": [nested]}))
    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic
    assert "nested" in str(load_error(metadata=cyclic))


def test_document_with_shared_references_is_rejected() -> None:
    """A small object that expands to a huge document is rejected quickly."""
    doubled: Any = "x"
    for _ in range(50):
        doubled = [doubled, doubled]
    assert "1024 KiB" in str(load_error(metadata={"bomb": doubled}))


def test_number_of_problems_is_limited() -> None:
    """A hostile document gives a short message without much work."""
    unknown = load_error(**{f"worker{number}": 1 for number in range(30_000)})
    wrong = load_error(params={"x": [math.nan] * 100_000})
    for error in (unknown, wrong):
        assert len(error.problems) <= 101
        assert len(str(error).splitlines()) < 30


def test_python_values_become_plain_json() -> None:
    """Enumerations and tuples are stored as JSON values."""

    class Colour(str, enum.Enum):  # noqa: UP042 - the older kind, whose str() is its name
        RED = "red"

    config = load_run_config(MINIMAL | {"params": {"colour": Colour.RED, "layers": (1, 2)}})
    assert config.params == {"colour": "red", "layers": [1, 2]}
    assert type(config.params["colour"]) is str


NESTED_NAMES = [
    "extras",
    "config",
    "algo_params",
    "enabled",
    "wandb",
    "video",
    "track_wandb",
    "run_id",
    "name",
    "steps",
    "requested",
]
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.sampled_from(["train", "local", "all", "CartPole-v1", "x=1", "http://a:b@c"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from([*TrainRunConfig.__struct_fields__, *NESTED_NAMES]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)
DOCUMENTS = st.dictionaries(
    st.sampled_from([*TrainRunConfig.__struct_fields__, "extras", "environment"]), JSON_VALUES
).map(lambda extra: MINIMAL | extra) | st.fixed_dictionaries(
    {"metadata": st.fixed_dictionaries({"worker": st.fixed_dictionaries({"config": JSON_VALUES})})}
).map(lambda extra: MINIMAL | extra)


def assert_survives_storing(source: bytes | dict[str, Any]) -> None:
    try:
        config = load_run_config(source)
    except RunConfigError:
        return
    assert load_run_config(to_json(config)) == config


@WITHOUT_DEADLINE
@given(JSON_VALUES | DOCUMENTS)
def test_any_document_loads_or_is_rejected(document: Any) -> None:
    """Any JSON document loads and round-trips, or raises RunConfigError."""
    assert_survives_storing(json.dumps(document).encode())


@WITHOUT_DEADLINE
@given(DOCUMENTS)
def test_any_dictionary_loads_or_is_rejected(document: dict[str, Any]) -> None:
    """The same for dictionaries from Python code, with NaN and lone surrogates."""
    assert_survives_storing(document)


@WITHOUT_DEADLINE
@given(st.binary(max_size=200))
def test_any_bytes_load_or_are_rejected(data: bytes) -> None:
    """Any bytes load or raise RunConfigError."""
    with pytest.raises(RunConfigError):
        load_run_config(data)
