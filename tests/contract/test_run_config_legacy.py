"""The legacy nested configuration is converted to the flat one."""

import copy
from typing import Any

import pytest

from mosaic.contract.run_config import RunConfigError, load_run_config, to_json

LEGACY: dict[str, Any] = {
    "run_name": "cleanrl-ppo-1",
    "entry_point": "python",
    "arguments": ["-m", "cleanrl_worker.cli"],
    "environment": {"TRACK_WANDB": "1"},
    "resources": {"cpus": 2, "memory_mb": 2048, "gpus": {"requested": 1, "mandatory": False}},
    "artifacts": {"output_prefix": "runs/x", "persist_logs": True, "keep_checkpoints": False},
    "metadata": {
        "ui": {"worker_id": "cleanrl_worker"},
        "worker": {
            "module": "cleanrl_worker.cli",
            "use_grpc": True,
            "config": {
                "run_id": "cleanrl-ppo-1",
                "algo": "ppo",
                "env_id": "CartPole-v1",
                "seed": 7,
                "total_timesteps": 4096,
                "worker_id": "worker-7",
                "extras": {
                    "algo_params": {"learning_rate": 0.001},
                    "cuda": False,
                    "track_wandb": True,
                    "wandb_project_name": "MOSAIC",
                    "wandb_entity": "",
                    "wandb_http_proxy": "http://proxy:3128",
                    "tensorboard_dir": "tensorboard",
                    "capture_video": True,
                    "notes": "a note",
                    "num_threads": 4,
                },
            },
        },
    },
}


def legacy() -> dict[str, Any]:
    return copy.deepcopy(LEGACY)


def test_legacy_values_move_to_their_field() -> None:
    """Supported values move to their current field."""
    config = load_run_config(LEGACY)
    assert (config.worker, config.algo, config.env_id) == ("cleanrl_worker", "ppo", "CartPole-v1")
    assert (config.seed, config.total_timesteps, config.worker_id) == (7, 4096, "worker-7")
    assert config.params == {"learning_rate": 0.001, "cuda": False}
    assert config.extra_args == {"num_threads": 4}
    assert config.artifacts.wandb.enabled
    assert config.artifacts.wandb.project == "MOSAIC"
    assert config.artifacts.wandb.entity is None
    assert config.artifacts.wandb.proxy == "http://proxy:3128"
    assert config.artifacts.tensorboard.enabled
    assert config.artifacts.video.enabled
    assert (config.resources.cpus, config.resources.gpus) == (2, 1)


def test_nothing_is_lost() -> None:
    """Unsupported values are stored in the metadata."""
    metadata = load_run_config(LEGACY).metadata
    assert metadata["notes"] == "a note"
    assert metadata["ui"] == {"worker_id": "cleanrl_worker"}
    assert metadata["worker"] == {"module": "cleanrl_worker.cli", "use_grpc": True}
    assert metadata["earlier_form"] == {
        "run_id": "cleanrl-ppo-1",
        "entry_point": "python",
        "arguments": ["-m", "cleanrl_worker.cli"],
        "environment": {"TRACK_WANDB": "1"},
        "artifacts": {"output_prefix": "runs/x", "persist_logs": True, "keep_checkpoints": False},
    }


def test_normalising_twice_changes_nothing() -> None:
    """A stored configuration is in the current format."""
    config = load_run_config(LEGACY)
    assert load_run_config(to_json(config)) == config


def test_extras_beside_flat_fields() -> None:
    """`extras` is converted in a flat configuration as well."""
    config = load_run_config(
        {
            "worker": "cleanrl_worker",
            "algo": "ppo",
            "env_id": "CartPole-v1",
            "params": {"gamma": 0.9},
            "extras": {"algo_params": {"num_envs": 4}, "track_wandb": False},
        }
    )
    assert config.params == {"gamma": 0.9, "num_envs": 4}
    assert not config.artifacts.wandb.enabled


def test_artifacts_at_the_root_count() -> None:
    """`artifacts` at the root is merged with that in `extras`."""
    document = legacy()
    document["artifacts"] = {"wandb": {"mode": "offline"}, "checkpoints": {"keep": 9}}
    artifacts = load_run_config(document).artifacts
    assert artifacts.wandb.enabled
    assert artifacts.wandb.mode == "offline"
    assert artifacts.checkpoints.keep == 9


def test_artifacts_in_the_metadata_are_a_default() -> None:
    """`metadata.artifacts` applies where no other value is set."""
    document = legacy()
    del document["metadata"]["worker"]["config"]["extras"]
    document["metadata"]["artifacts"] = {
        "tensorboard": {"enabled": False, "relative_path": "x"},
        "wandb": {"enabled": True},
    }
    artifacts = load_run_config(document).artifacts
    assert not artifacts.tensorboard.enabled
    assert artifacts.wandb.enabled


def problems_of(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(RunConfigError) as caught:
        load_run_config(document)
    return {problem.field: str(problem) for problem in caught.value.problems}


def test_errors_name_the_field_as_it_was_written() -> None:
    """Errors have the original path of a value, not its target."""
    document = legacy()
    nested = document["metadata"]["worker"]["config"]
    nested["total_timesteps"] = "many"
    nested["extras"]["track_wandb"] = "yes"
    nested["extras"]["algo_params"] = 5
    nested["colour"] = "red"
    prefix = "metadata.worker.config"
    assert set(problems_of(document)) == {
        f"{prefix}.total_timesteps",
        f"{prefix}.extras.track_wandb",
        f"{prefix}.extras.algo_params",
        f"{prefix}.colour",
    }


def test_conflict_is_rejected() -> None:
    """Two different values for one setting are an error."""
    document = legacy() | {"seed": 8}
    problems = problems_of(document)
    assert set(problems) == {"metadata.worker.config.seed"}
    assert "`seed`" in problems["metadata.worker.config.seed"]


def test_unknown_artifact_field_is_rejected_here_too() -> None:
    """Only the legacy keys under `artifacts` are accepted."""
    document = legacy()
    document["artifacts"]["colour"] = "red"
    document["metadata"]["worker"]["config"]["artifacts"] = {"shape": "round"}
    problems = problems_of(document)
    assert problems["artifacts.colour"].startswith("LOG705 ")
    assert problems["metadata.worker.config.artifacts.shape"].startswith("LOG705 ")


def test_legacy_artifact_keys_are_unknown_in_a_flat_configuration() -> None:
    """`artifacts.output_prefix` is unknown in a flat configuration."""
    flat = {"worker": "w", "algo": "a", "env_id": "E", "artifacts": {"output_prefix": "x"}}
    assert problems_of(flat)["artifacts.output_prefix"].startswith("LOG705 ")


def test_extras_that_is_not_an_object_is_rejected() -> None:
    """A broken `extras` is reported, not dropped."""
    document = legacy()
    document["metadata"]["worker"]["config"]["extras"] = [1]
    assert set(problems_of(document)) == {"metadata.worker.config.extras"}


def test_secret_in_the_environment_is_rejected() -> None:
    """Legacy configurations had keys in `environment`; they are rejected like elsewhere."""
    document = legacy()
    document["environment"]["WANDB_API_KEY"] = "s3cr3t"
    problems = problems_of(document)
    assert set(problems) == {"environment.WANDB_API_KEY"}
    assert "s3cr3t" not in str(problems)
