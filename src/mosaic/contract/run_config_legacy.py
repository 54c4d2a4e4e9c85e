"""The nested payload of the earlier design, turned into the present flat one.

A document is of the earlier form when it has `metadata.worker.config` or `extras`. What has a place
today is moved there; what has none is kept under `metadata.earlier_form`; a value that is given in
two places with two meanings is refused. `docs/protocol.md` lists the mapping.
"""

from dataclasses import dataclass, field
from typing import Any

from mosaic.contract.problems import Path, Problem, render_path

_NESTED: Path = ("metadata", "worker", "config")
_KEPT_ASIDE: Path = ("metadata", "earlier_form")

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
_WITHOUT_A_PLACE: tuple[Path, ...] = (
    ("entry_point",),
    ("arguments",),
    ("environment",),
    ("schedule",),
    ("run_id",),
    ("artifacts", "output_prefix"),
    ("artifacts", "persist_logs"),
    ("artifacts", "keep_checkpoints"),
)
_DEFAULTS_FROM: tuple[tuple[Path, Path], ...] = (
    (("metadata", "worker", "worker_id"), ("worker",)),
    (("metadata", "ui", "worker_id"), ("worker",)),
    (("metadata", "artifacts", "tensorboard", "enabled"), ("artifacts", "tensorboard", "enabled")),
    (("metadata", "artifacts", "wandb", "enabled"), ("artifacts", "wandb", "enabled")),
)


@dataclass
class Normalised:
    """A document in the present form, and where its values stood before."""

    document: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    moved_from: dict[Path, Path] = field(default_factory=dict)

    def path_as_written(self, path: Path) -> Path:
        """The path by which the author of the document knows the value at `path`."""
        for length in range(len(path), 0, -1):
            origin = self.moved_from.get(path[:length])
            if origin is not None:
                return origin + path[length:]
        return path

    def find(self, path: Path) -> Any:
        """The value at `path`, or None."""
        value: Any = self.document
        for part in path:
            if not isinstance(value, dict):
                return None
            value = value.get(part)
        return value

    def take(self, path: Path) -> Any:
        """The value at `path`, which is removed; None when there is none."""
        parent = self.find(path[:-1])
        return parent.pop(path[-1], None) if isinstance(parent, dict) else None

    def put(self, target: Path, value: Any, origin: Path) -> None:
        """Set `target`, merging objects; what differs from a value already there is a problem."""
        parent: Any = self.document
        for part in target[:-1]:
            parent = parent.setdefault(part, {})
            if not isinstance(parent, dict):
                return  # the check of the whole reports this
        present = parent.get(target[-1])
        if present is None:
            parent[target[-1]] = value
            self.moved_from[target] = origin
        elif isinstance(present, dict) and isinstance(value, dict):
            for key, item in value.items():
                self.put((*target, key), item, (*origin, key))
        elif present != value:
            self._refuse_conflict(target, origin)

    def _refuse_conflict(self, target: Path, origin: Path) -> None:
        other = render_path(self.path_as_written(target))
        message = f"and `{other}` give different values for the same thing."
        self.problems.append(Problem(origin, "value", message, "Keep one of the two."))


def normalise(document: dict[str, Any]) -> Normalised:
    """`document`, which is changed in place, in the present form."""
    normalised = Normalised(document)
    nested = normalised.find(_NESTED)
    if isinstance(nested, dict):
        normalised.take(_NESTED)
        _lift(normalised, nested)
    if isinstance(document.get("extras"), dict):
        _spread_extras(normalised, document.pop("extras"), ("extras",))
    return normalised


def _lift(normalised: Normalised, nested: dict[str, Any]) -> None:
    extras = nested.get("extras")
    if isinstance(extras, dict):
        del nested["extras"]
        _spread_extras(normalised, extras, (*_NESTED, "extras"))
    for key, value in nested.items():
        normalised.put((key,), value, (*_NESTED, key))
    for path in _WITHOUT_A_PLACE:
        value = normalised.take(path)
        if value is not None:
            normalised.put(_KEPT_ASIDE + path, value, normalised.path_as_written(path))
    gpus: Path = ("resources", "gpus")
    if isinstance(normalised.find((*gpus, "requested")), int):
        normalised.put(gpus, normalised.take(gpus)["requested"], (*gpus, "requested"))
    module: Path = ("metadata", "worker", "module")
    if isinstance(normalised.find(module), str):
        _put_default(normalised, ("worker",), normalised.find(module).partition(".")[0], module)
    for origin, target in _DEFAULTS_FROM:
        _put_default(normalised, target, normalised.find(origin), origin)


def _spread_extras(normalised: Normalised, extras: dict[str, Any], origin: Path) -> None:
    http_proxy = extras.pop("wandb_http_proxy", None)
    for key, value in extras.items():
        if value in (None, ""):
            continue  # an empty field of the earlier form
        target = _EXTRAS.get(key, ("extra_args", key))
        flag = True if key == "tensorboard_dir" else value
        normalised.put(target, flag, (*origin, key))
    _put_default(
        normalised, _EXTRAS["wandb_https_proxy"], http_proxy, (*origin, "wandb_http_proxy")
    )


def _put_default(normalised: Normalised, target: Path, value: Any, origin: Path) -> None:
    if value not in (None, "") and normalised.find(target) is None:
        normalised.put(target, value, origin)
