"""The fields of the training form, as typed parameters by section.

Parameters of the algorithm come from the descriptor. A section that the worker does not support has
no fields.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Path
from mosaic.envs.entries import ShownWhen

SectionId = Literal["run", "params", "more_params", "artifacts", "tracking", "extras", "about"]
SECTIONS: tuple[SectionId, ...] = (
    *("run", "params", "more_params"),
    *("artifacts", "tracking", "extras", "about"),
)


@dataclass(frozen=True, slots=True)
class ConfigField:
    """A field of the form and its path in the run configuration."""

    section: SectionId
    name: str
    path: Path


CONFIG_FIELDS = (
    ConfigField("run", "seed", ("seed",)),
    ConfigField("run", "total_timesteps", ("total_timesteps",)),
    ConfigField("artifacts", "tensorboard", ("artifacts", "tensorboard", "enabled")),
    ConfigField("artifacts", "checkpoint_every", ("artifacts", "checkpoints", "every_steps")),
    ConfigField("artifacts", "checkpoints_kept", ("artifacts", "checkpoints", "keep")),
    ConfigField("artifacts", "video", ("artifacts", "video", "enabled")),
    ConfigField("artifacts", "video_every", ("artifacts", "video", "every_episodes")),
    ConfigField("artifacts", "video_frames", ("artifacts", "video", "max_frames")),
    ConfigField("tracking", "wandb", ("artifacts", "wandb", "enabled")),
    ConfigField("tracking", "project", ("artifacts", "wandb", "project")),
    ConfigField("tracking", "entity", ("artifacts", "wandb", "entity")),
    ConfigField("tracking", "mode", ("artifacts", "wandb", "mode")),
    ConfigField("tracking", "proxy", ("artifacts", "wandb", "proxy")),
    ConfigField("about", "run_name", ("run_name",)),
    ConfigField("about", "agent_id", ("agent_id",)),
    ConfigField("about", "worker_id", ("worker_id",)),
)

TITLES = {
    "tensorboard": "TensorBoard files",
    "checkpoint_every": "Checkpoint interval",
    "checkpoints_kept": "Checkpoints to keep",
    "video": "Videos",
    "video_every": "Video interval",
    "video_frames": "Maximum video length",
    "wandb": "Tracking",
    "use_proxy": "Proxy",
    "proxy": "Proxy address",
    "agent_id": "Agent id",
    "worker_id": "Worker id",
    "mujoco": "MuJoCo",
    "minigrid": "MiniGrid",
    "hub": "Hugging Face Hub",
    "num_envs": "Number of environments",
    "num_steps": "Steps per rollout",
    "learning_rate": "Learning rate",
    "anneal_lr": "Learning rate annealing",
    "gamma": "Discount \N{GREEK SMALL LETTER GAMMA}",
    "gae_lambda": "GAE λ",
    "tau": "Target smoothing τ",
    "num_minibatches": "Minibatches",
    "update_epochs": "Epochs per update",
    "norm_adv": "Advantage normalization",
    "clip_coef": "Clip range",
    "clip_vloss": "Value loss clipping",
    "ent_coef": "Entropy coefficient",
    "vf_coef": "Value loss coefficient",
    "max_grad_norm": "Maximum gradient norm",
    "target_kl": "Target KL",
    "buffer_size": "Replay buffer size",
    "learning_starts": "Learning start",
    "n_atoms": "Number of atoms",
    "hf_entity": "Hugging Face entity",
    "checkpoint_buffer_mb": "Replay buffer in checkpoints",
    "torch_deterministic": "Deterministic torch",
    "torch_threads": "Torch threads",
    "tick_ms": "Tick interval",
}
"""Labels of fields whose name is not a good label. Search matches names, too."""
SHOWN_WHEN = (
    ShownWhen(fields=("video_every", "video_frames"), other="video", values=(True,)),
    ShownWhen(fields=("project", "entity", "mode", "use_proxy"), other="wandb", values=(True,)),
    ShownWhen(fields=("proxy",), other="use_proxy", values=(True,)),
    ShownWhen(fields=("proxy",), other="wandb", values=(True,)),
)
LONG_TEXTS = ("note",)
_PLAY_GROUPS = ("Playing", "Pace", "Episodes", "Human", "Person")
"""Groups of play parameters; `Person` is the former name of `Human`."""
_SECONDARY_GROUPS = ("Output", "Machine", *_PLAY_GROUPS, "Misbehaviour")
"""Parameter groups that are rarely tuned: machine, play and output."""
_EXTRAS = {
    "atari": "Packages for Atari games.",
    "mujoco": "Packages for MuJoCo environments.",
    "minigrid": "Packages for MiniGrid environments.",
    "video": "Packages that write MP4 files; required for videos.",
    "wandb": "Weights & Biases client; required for tracking.",
    "hub": "Hugging Face client; required for uploads of models.",
}


def title_of(name: str) -> str:
    """The label of a field."""
    text = name.replace("_", " ")
    return TITLES.get(name) or text[:1].upper() + text[1:]


def parameters_of(
    section: SectionId,
    worker: WorkerDescriptor,
    algorithm: Sequence[Parameter],
    implied_extras: Collection[str] = (),
) -> tuple[Parameter, ...]:
    """The fields of a section; empty if the worker does not support it."""
    match section:
        case "run":
            return _RUN
        case "params":
            groups = _secondary_groups(worker)
            return tuple(parameter for parameter in algorithm if parameter.group not in groups)
        case "more_params":
            return _secondary(worker, algorithm)
        case "artifacts":
            return _artifacts(worker)
        case "tracking":
            return _TRACKING if tracks(worker) else ()
        case "extras":
            return tuple(
                _parameter(
                    extra,
                    "bool",
                    extra in implied_extras,
                    help=_EXTRAS.get(extra, f"Packages of the extra {extra}."),
                )
                for extra in worker.needs.extras
            )
        case "about":
            return _ABOUT


def implied_extras(
    worker: WorkerDescriptor,
    family: str,
    artifacts: Mapping[str, Any],
    tracking: Mapping[str, Any],
) -> frozenset[str]:
    """The extras that the environment and the artifacts of a run require."""
    required = {family}
    if artifacts.get("video"):
        required.add("video")
    if tracking.get("wandb"):
        required.add("wandb")
    return frozenset(required.intersection(worker.needs.extras))


def tracks(worker: WorkerDescriptor) -> bool:
    """Whether the worker can log to Weights & Biases."""
    return "wandb" in worker.needs.extras or "WANDB_API_KEY" in worker.needs.credentials


def _secondary_groups(worker: WorkerDescriptor) -> tuple[str, ...]:
    """In a worker that cannot play, the play groups concern learning."""
    if "play" in worker.modes:
        return _SECONDARY_GROUPS
    return tuple(group for group in _SECONDARY_GROUPS if group not in _PLAY_GROUPS)


def _secondary(worker: WorkerDescriptor, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    groups = _secondary_groups(worker)
    secondary = (parameter for parameter in parameters if parameter.group in groups)
    return tuple(sorted(secondary, key=lambda parameter: groups.index(parameter.group)))


def _artifacts(worker: WorkerDescriptor) -> tuple[Parameter, ...]:
    parameters: tuple[Parameter, ...] = ()
    if worker.lane != "telemetry":
        parameters += (_TENSORBOARD,)
    if worker.supports.checkpoints:
        parameters += _CHECKPOINTS
    if "video" in worker.needs.extras:
        parameters += _VIDEO
    return parameters


def _parameter(name: str, kind: Any, default: Any = None, **more: Any) -> Parameter:
    return Parameter(name=name, type=kind, default=default, **more)


_RUN = (
    _parameter("seed", "int", 1, min=0, help="Random seed. Default: 1."),
    _parameter(
        "total_timesteps",
        "int",
        min=1,
        unit="steps",
        help="Stop after N steps. Empty: default of the algorithm.",
    ),
)
_TENSORBOARD = _parameter(
    "tensorboard", "bool", True, help="Write TensorBoard event files. Default: on."
)
_CHECKPOINTS = (
    _parameter(
        "checkpoint_every",
        "int",
        0,
        min=0,
        unit="steps",
        help="Steps between checkpoints. 0: only at the end. Default: 0.",
    ),
    _parameter(
        "checkpoints_kept",
        "int",
        3,
        min=1,
        help="Number of newest checkpoints to keep. Default: 3.",
    ),
)
_VIDEO = (
    _parameter("video", "bool", False, help="Record episodes as MP4 files. Default: off."),
    _parameter(
        "video_every",
        "int",
        100,
        min=1,
        unit="episodes",
        help="Record every Nth episode. Default: 100.",
    ),
    _parameter(
        "video_frames",
        "int",
        1000,
        min=1,
        unit="frames",
        help="Maximum number of frames per video. Default: 1000.",
    ),
)
_TRACKING = (
    _parameter("wandb", "bool", False, help="Log metrics to Weights & Biases. Default: off."),
    _parameter(
        "project", "str", "mosaic", help="W&B project; created if missing. Default: mosaic."
    ),
    _parameter("entity", "str", "", help="W&B user or team. Empty: owner of the API key."),
    _parameter(
        "mode",
        "choice",
        "online",
        choices=("online", "offline"),
        help="Upload offline runs later with `wandb sync`. Default: online.",
    ),
    _parameter("use_proxy", "bool", False, help="Proxy for W&B traffic only. Default: off."),
    _parameter(
        "proxy",
        "str",
        "",
        help="Address without password. Empty: WANDB_VPN_HTTPS_PROXY or WANDB_VPN_HTTP_PROXY.",
    ),
)
_ABOUT = (
    _parameter("run_name", "str", "", help="Display name, also in W&B. Empty: generated."),
    _parameter("tags", "str", "", help="Comma-separated tags of the run."),
    _parameter("agent_id", "str", "", help="Agent id in telemetry. Empty: generated."),
    _parameter("worker_id", "str", "", help="Worker id in telemetry. Empty: generated."),
    _parameter("note", "str", "", help="Free text about the run."),
)
