"""The fields of the training form that every worker has, as typed parameters by section.

Those of the algorithm come from its descriptor. What a descriptor does not state is left out.
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
class FieldPosition:
    """Where the value of a field is in a run's configuration."""

    section: SectionId
    name: str
    path: Path


FIELD_POSITIONS = (
    FieldPosition("run", "seed", ("seed",)),
    FieldPosition("run", "total_timesteps", ("total_timesteps",)),
    FieldPosition("artifacts", "tensorboard", ("artifacts", "tensorboard", "enabled")),
    FieldPosition("artifacts", "checkpoint_every", ("artifacts", "checkpoints", "every_steps")),
    FieldPosition("artifacts", "checkpoints_kept", ("artifacts", "checkpoints", "keep")),
    FieldPosition("artifacts", "video", ("artifacts", "video", "enabled")),
    FieldPosition("artifacts", "video_every", ("artifacts", "video", "every_episodes")),
    FieldPosition("artifacts", "video_frames", ("artifacts", "video", "max_frames")),
    FieldPosition("tracking", "wandb", ("artifacts", "wandb", "enabled")),
    FieldPosition("tracking", "project", ("artifacts", "wandb", "project")),
    FieldPosition("tracking", "entity", ("artifacts", "wandb", "entity")),
    FieldPosition("tracking", "mode", ("artifacts", "wandb", "mode")),
    FieldPosition("tracking", "proxy", ("artifacts", "wandb", "proxy")),
    FieldPosition("about", "run_name", ("run_name",)),
    FieldPosition("about", "agent_id", ("agent_id",)),
    FieldPosition("about", "worker_id", ("worker_id",)),
)

TITLES = {
    "tensorboard": "TensorBoard files",
    "checkpoint_every": "Checkpoint every",
    "checkpoints_kept": "Checkpoints to keep",
    "video": "Videos",
    "video_every": "Video every",
    "video_frames": "Longest video",
    "wandb": "Track this run",
    "use_proxy": "Through a proxy",
    "proxy": "Proxy address",
    "agent_id": "Agent id",
    "worker_id": "Worker id",
    "mujoco": "MuJoCo",
    "minigrid": "MiniGrid",
    "hub": "Hugging Face Hub",
    "num_envs": "In parallel",
    "num_steps": "Steps per rollout",
    "learning_rate": "Learning rate",
    "anneal_lr": "Anneal learning rate",
    "gamma": "Discount \N{GREEK SMALL LETTER GAMMA}",
    "gae_lambda": "GAE λ",
    "tau": "Target smoothing τ",
    "num_minibatches": "Minibatches",
    "update_epochs": "Epochs per update",
    "norm_adv": "Normalize advantages",
    "clip_coef": "Clip range",
    "clip_vloss": "Clip value loss",
    "ent_coef": "Entropy coefficient",
    "vf_coef": "Value coefficient",
    "max_grad_norm": "Gradient norm limit",
    "target_kl": "Target KL",
    "buffer_size": "Replay buffer",
    "learning_starts": "Learning starts at",
    "n_atoms": "Atoms",
    "hf_entity": "Hugging Face entity",
    "checkpoint_buffer_mb": "Buffer in checkpoints",
    "torch_deterministic": "Repeatable torch",
    "torch_threads": "Torch threads",
    "tick_ms": "Tick",
}
"""Where a name alone says too little. Searching finds the names too."""
SHOWN_WHEN = (
    ShownWhen(fields=("video_every", "video_frames"), other="video", values=(True,)),
    ShownWhen(fields=("project", "entity", "mode", "use_proxy"), other="wandb", values=(True,)),
    ShownWhen(fields=("proxy",), other="use_proxy", values=(True,)),
    ShownWhen(fields=("proxy",), other="wandb", values=(True,)),
)
LONG_TEXTS = ("note",)
_OF_PLAYING = ("Playing", "Pace", "Episodes", "Person")
_LATER_GROUPS = ("Output", "Machine", *_OF_PLAYING, "Misbehaviour")
"""What concerns the machine, playing, or the workbench: hardly anybody tunes these."""
_EXTRAS = {
    "atari": "Packages for Atari games.",
    "mujoco": "Packages for MuJoCo environments.",
    "minigrid": "Packages for MiniGrid environments.",
    "video": "Packages that write MP4 files; needed for videos.",
    "wandb": "The Weights & Biases client; needed to track.",
    "hub": "The Hugging Face client; needed to upload models.",
}


def title_of(name: str) -> str:
    """As a sentence calls a field."""
    words = name.replace("_", " ")
    return TITLES.get(name) or words[:1].upper() + words[1:]


def parameters_of(
    section: SectionId,
    worker: WorkerDescriptor,
    algorithm: Sequence[Parameter],
    implied_extras: Collection[str] = (),
) -> tuple[Parameter, ...]:
    """What the section asks for; nothing when the worker has no use for it."""
    match section:
        case "run":
            return _RUN
        case "params":
            return tuple(each for each in algorithm if each.group not in _later_groups(worker))
        case "more_params":
            return _later(worker, algorithm)
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
                    help=_EXTRAS.get(extra, f"The extra {extra}."),
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
    """The packages that a run needs because of its environment and of what it is to leave."""
    wanted = {family}
    if artifacts.get("video"):
        wanted.add("video")
    if tracking.get("wandb"):
        wanted.add("wandb")
    return frozenset(wanted.intersection(worker.needs.extras))


def tracks(worker: WorkerDescriptor) -> bool:
    """Whether the worker can send what it measures to Weights & Biases."""
    return "wandb" in worker.needs.extras or "WANDB_API_KEY" in worker.needs.credentials


def _later_groups(worker: WorkerDescriptor) -> tuple[str, ...]:
    """Of a worker that plays nothing, such groups are about how it learns."""
    if "play" in worker.modes:
        return _LATER_GROUPS
    return tuple(group for group in _LATER_GROUPS if group not in _OF_PLAYING)


def _later(worker: WorkerDescriptor, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
    groups = _later_groups(worker)
    found = (each for each in parameters if each.group in groups)
    return tuple(sorted(found, key=lambda each: _LATER_GROUPS.index(each.group)))


def _artifacts(worker: WorkerDescriptor) -> tuple[Parameter, ...]:
    found: tuple[Parameter, ...] = ()
    if worker.lane != "telemetry":
        found += (_TENSORBOARD,)
    if worker.supports.checkpoints:
        found += _CHECKPOINTS
    if "video" in worker.needs.extras:
        found += _VIDEO
    return found


def _parameter(name: str, kind: Any, default: Any = None, **more: Any) -> Parameter:
    return Parameter(name=name, type=kind, default=default, **more)


_RUN = (
    _parameter("seed", "int", 1, min=0, help="Runs with the same seed and settings are equal."),
    _parameter(
        "total_timesteps",
        "int",
        min=1,
        unit="steps",
        help="How long it learns. Empty: as long as the algorithm usually needs.",
    ),
)
_TENSORBOARD = _parameter(
    "tensorboard", "bool", True, help="Event files that TensorBoard and the charts here can read."
)
_CHECKPOINTS = (
    _parameter(
        "checkpoint_every", "int", 0, min=0, unit="steps", help="0: one checkpoint at the end only."
    ),
    _parameter("checkpoints_kept", "int", 3, min=1, help="How many of the newest stay."),
)
_VIDEO = (
    _parameter("video", "bool", False, help="MP4 files of some episodes."),
    _parameter("video_every", "int", 100, min=1, unit="episodes", help="Which are filmed."),
    _parameter("video_frames", "int", 1000, min=1, unit="frames", help="Then it is cut off."),
)
_TRACKING = (
    _parameter("wandb", "bool", False, help="Send what is measured to Weights & Biases."),
    _parameter("project", "str", "mosaic", help="Of Weights & Biases; made when it is new."),
    _parameter("entity", "str", "", help="User or team. Empty: the one that the key belongs to."),
    _parameter(
        "mode",
        "choice",
        "online",
        choices=("online", "offline"),
        help="Offline keeps everything here, to be uploaded later with `wandb sync`.",
    ),
    _parameter("use_proxy", "bool", False, help="For the traffic of Weights & Biases alone."),
    _parameter(
        "proxy",
        "str",
        "",
        help="Such as http://proxy:8080. Empty: WANDB_VPN_HTTPS_PROXY or WANDB_VPN_HTTP_PROXY."
        " One with a password belongs there, never here.",
    ),
)
_ABOUT = (
    _parameter(
        "run_name", "str", "", help="What to call the run, here and in W&B. Empty: made up."
    ),
    _parameter("tags", "str", "", help="Separated by commas."),
    _parameter("agent_id", "str", "", help="What to call the agent in telemetry. Empty: made up."),
    _parameter(
        "worker_id", "str", "", help="What to call the process in telemetry. Empty: made up."
    ),
    _parameter("note", "str", "", help="What you want to remember about this run."),
)
