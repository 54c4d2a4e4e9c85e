"""Converts the legacy nested configuration to the current flat format.

A document is in the legacy format when it has `metadata.worker.config` or `extras`. Supported
values move to their current field; the others are stored under `metadata.earlier_form`; conflicting
values for the same field are rejected. `docs/protocol.md` lists the mapping.
"""

from dataclasses import dataclass, field
from typing import Any

from mosaic.contract.problems import Path, Problem, render_path

_NESTED: Path = ("metadata", "worker", "config")
_UNSUPPORTED_TARGET: Path = ("metadata", "earlier_form")

_EXTRAS: dict[str, Path] = {
    "algo_params": ("params",),
    "cuda": ("params", "cuda"),
    "agent_id": ("agent_id",),
    "notes": ("metadata", "notes"),
    "track_wandb": ("artifacts", "wandb", "enabled"),
    "wandb_project_name": ("artifacts", "wandb", "project"),
    "wandb_entity": ("artifacts", "wandb", "entity"),
    "wandb_mode": ("artifacts", "wandb", "mode"),
    "wandb_https_proxy": ("artifacts", "wandb", "proxy"),
    "track_tensorboard": ("artifacts", "tensorboard", "enabled"),
    "tensorboard_dir": ("artifacts", "tensorboard", "enabled"),
    "capture_video": ("artifacts", "video", "enabled"),
}
_UNSUPPORTED: tuple[Path, ...] = (
    ("entry_point",),
    ("arguments",),
    ("environment",),
    ("schedule",),
    ("run_id",),
    ("artifacts", "output_prefix"),
    ("artifacts", "persist_logs"),
    ("artifacts", "keep_checkpoints"),
)
_DEFAULT_SOURCES: tuple[tuple[Path, Path], ...] = (
    (("metadata", "worker", "worker_id"), ("worker",)),
    (("metadata", "ui", "worker_id"), ("worker",)),
    (("metadata", "artifacts", "tensorboard", "enabled"), ("artifacts", "tensorboard", "enabled")),
    (("metadata", "artifacts", "wandb", "enabled"), ("artifacts", "wandb", "enabled")),
)


@dataclass
class Normalised:
    """A document in the current format, and the original paths of the moved values."""

    document: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    moved_from: dict[Path, Path] = field(default_factory=dict)

    def path_as_written(self, path: Path) -> Path:
        """Return the original path of the value at `path`, for error messages."""
        for length in range(len(path), 0, -1):
            origin = self.moved_from.get(path[:length])
            if origin is not None:
                return origin + path[length:]
        return path

    def find(self, path: Path) -> Any:
        """Return the value at `path`, or None."""
        value: Any = self.document
        for key in path:
            if not isinstance(value, dict):
                return None
            value = value.get(key)
        return value

    def pop(self, path: Path) -> Any:
        """Remove and return the value at `path`; None when it does not exist."""
        parent = self.find(path[:-1])
        return parent.pop(path[-1], None) if isinstance(parent, dict) else None

    def put(self, target: Path, value: Any, origin: Path) -> None:
        """Set `target`, merging objects; a conflict with an existing value is a problem."""
        parent: Any = self.document
        for key in target[:-1]:
            parent = parent.setdefault(key, {})
            if not isinstance(parent, dict):
                return  # validation of the document reports this
        existing = parent.get(target[-1])
        if existing is None:
            parent[target[-1]] = value
            self.moved_from[target] = origin
        elif isinstance(existing, dict) and isinstance(value, dict):
            for key, item in value.items():
                self.put((*target, key), item, (*origin, key))
        elif existing != value:
            self._reject_conflict(target, origin)

    def _reject_conflict(self, target: Path, origin: Path) -> None:
        other = render_path(self.path_as_written(target))
        message = f"conflicts with `{other}`, which has another value for the same setting."
        self.problems.append(Problem(origin, "value", message, "Remove one of the two."))


def normalise(document: dict[str, Any]) -> Normalised:
    """Convert `document` in place to the current format."""
    normalised = Normalised(document)
    nested = normalised.find(_NESTED)
    if isinstance(nested, dict):
        normalised.pop(_NESTED)
        _flatten(normalised, nested)
    if isinstance(document.get("extras"), dict):
        _spread_extras(normalised, document.pop("extras"), ("extras",))
    return normalised


def _flatten(normalised: Normalised, nested: dict[str, Any]) -> None:
    extras = nested.get("extras")
    if isinstance(extras, dict):
        del nested["extras"]
        _spread_extras(normalised, extras, (*_NESTED, "extras"))
    for key, value in nested.items():
        normalised.put((key,), value, (*_NESTED, key))
    for path in _UNSUPPORTED:
        value = normalised.pop(path)
        if value is not None:
            normalised.put(_UNSUPPORTED_TARGET + path, value, normalised.path_as_written(path))
    gpus: Path = ("resources", "gpus")
    if isinstance(normalised.find((*gpus, "requested")), int):
        normalised.put(gpus, normalised.pop(gpus)["requested"], (*gpus, "requested"))
    module: Path = ("metadata", "worker", "module")
    if isinstance(normalised.find(module), str):
        _put_default(normalised, ("worker",), normalised.find(module).partition(".")[0], module)
    for origin, target in _DEFAULT_SOURCES:
        _put_default(normalised, target, normalised.find(origin), origin)


def _spread_extras(normalised: Normalised, extras: dict[str, Any], origin: Path) -> None:
    http_proxy = extras.pop("wandb_http_proxy", None)
    for key, value in extras.items():
        if value in (None, ""):
            continue  # an empty field of the legacy format
        target = _EXTRAS.get(key, ("extra_args", key))
        flag = True if key == "tensorboard_dir" else value
        normalised.put(target, flag, (*origin, key))
    _put_default(
        normalised, _EXTRAS["wandb_https_proxy"], http_proxy, (*origin, "wandb_http_proxy")
    )


def _put_default(normalised: Normalised, target: Path, value: Any, origin: Path) -> None:
    if value not in (None, "") and normalised.find(target) is None:
        normalised.put(target, value, origin)
