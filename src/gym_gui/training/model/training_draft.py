"""TrainingDraft: the values of the training form for one agent and environment.

`to_document` converts a draft to the run configuration for the daemon, `from_document` converts one
back, from a preset, a file or the clipboard. Fields that the form lacks stay in `other_fields`.
"""

import copy
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from gym_gui.runtime.models.run_text import short_id
from gym_gui.training.model.training_fields import CONFIG_FIELDS, SECTIONS, SectionId
from mosaic.contract.errors import UserError
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Path
from mosaic.contract.run_config import TrainRunConfig, to_json

Values = dict[str, Any]
MINIMAL_TELEMETRY: Mapping[str, Any] = {"steps": "sampled", "frames": True}
"""Every tenth episode with all steps and frames, the others as columns; costs little speed."""
_WARM_START = "warm_start"
_DOCK_FIELDS = ("worker", "algo", "env_id", "env_kwargs", "mode")
RUN_ONLY_FIELDS = ("parent_run", "lease_s", "actor", "episodes", "seeds")
"""Fields that are not copied to a duplicate of a run."""


@dataclass(frozen=True, slots=True)
class TrainingDraft:
    """Contains only values that differ from their default."""

    values: Mapping[SectionId, Values] = field(default_factory=dict)
    other_fields: Values = field(default_factory=dict)
    """Fields of the configuration that the form does not show."""

    @property
    def other_fields_text(self) -> str:
        """Describes `other_fields`; empty: there are none."""
        names = sorted(name for name in self.other_fields if name != _WARM_START)
        run_id = str(self.other_fields.get(_WARM_START) or "").partition(".")[0]
        sentences = (
            f"Starts from a checkpoint of run {short_id(run_id)}." if run_id else "",
            f"Also set: {', '.join(names)}." if names else "",
        )
        return " ".join(sentence for sentence in sentences if sentence)

    def section(self, section: SectionId) -> Values:
        return dict(self.values.get(section, {}))

    def with_values(self, section: SectionId, values: Values) -> "TrainingDraft":
        return replace(self, values={**self.values, section: dict(values)})

    def without_defaults(
        self, section: SectionId, parameters: Sequence[Parameter]
    ) -> "TrainingDraft":
        """Remove values of the section that equal the defaults of `parameters`."""
        defaults = {parameter.name: parameter.default for parameter in parameters}
        values = {
            name: value
            for name, value in self.section(section).items()
            if name not in defaults or not _is_equal(value, defaults[name])
        }
        return self.with_values(section, values)

    @property
    def tags(self) -> tuple[str, ...]:
        text = str(self.section("about").get("tags") or "")
        return tuple(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))

    @property
    def note(self) -> str:
        return str(self.section("about").get("note") or "").strip()


@dataclass(frozen=True, slots=True)
class Target:
    """Agent and environment of a draft."""

    worker: str = ""
    algo: str = ""
    env_id: str = ""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)


def to_document(
    draft: TrainingDraft,
    target: Target,
    *,
    is_minimal: bool,
    default_proxy: str = "",
    implied_extras: Collection[str] = (),
) -> Values:
    """The run configuration as JSON values, not validated."""
    document: Values = copy.deepcopy(draft.other_fields)
    document |= {"worker": target.worker, "algo": target.algo, "env_id": target.env_id}
    if target.env_kwargs:
        document["env_kwargs"] = dict(target.env_kwargs)
    for config_field in CONFIG_FIELDS:
        values = draft.section(config_field.section)
        if config_field.name in values and config_field.name != "proxy":
            _set_path(document, config_field.path, values[config_field.name])
    tracking = draft.section("tracking")
    if tracking.get("use_proxy"):
        _set_path(document, ("artifacts", "wandb", "proxy"), tracking.get("proxy") or default_proxy)
    if params := draft.section("params"):
        document["params"] = params
    switches = dict.fromkeys(implied_extras, True) | draft.section("extras")
    if extras := sorted(name for name, is_on in switches.items() if is_on):
        _set_path(document, ("bundle", "extras"), extras)
    if is_minimal:
        document["telemetry"] = dict(MINIMAL_TELEMETRY)
    return document


def from_document(document: Mapping[str, Any]) -> TrainingDraft:
    """The draft of a run configuration, without its agent and environment."""
    others: Values = copy.deepcopy(dict(document))
    for name in _DOCK_FIELDS:
        others.pop(name, None)
    values: dict[SectionId, Values] = {section: {} for section in SECTIONS}
    for config_field in CONFIG_FIELDS:
        value = _pop_path(others, config_field.path)
        if value is not None:
            values[config_field.section][config_field.name] = value
    if "proxy" in values["tracking"]:
        values["tracking"]["use_proxy"] = True
    # Values of a wrong type stay in place, so that validation reports them.
    if isinstance(others.get("params"), dict):
        values["params"] = others.pop("params")
    extras = _pop_path(others, ("bundle", "extras"))
    if isinstance(extras, list):
        values["extras"] = {str(name): True for name in extras}
    elif extras is not None:
        _set_path(others, ("bundle", "extras"), extras)
    if is_minimal(others):
        others.pop("telemetry")
    return TrainingDraft(values, _drop_empty(others))


def without_defaults(document: Mapping[str, Any]) -> Values:
    """Shorten the stored configuration of a run, which has every field."""
    required = {"worker": document.get("worker"), "env_id": document.get("env_id")}
    try:
        defaults = msgspec.json.decode(to_json(msgspec.convert(required, TrainRunConfig)))
    except msgspec.ValidationError:
        defaults = {}
    return {**required, **_drop_empty(_differences(document, defaults))}


def _is_equal(value: Any, other: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def is_minimal(document: Mapping[str, Any]) -> bool:
    return document.get("telemetry") == MINIMAL_TELEMETRY


def encode_draft(draft: TrainingDraft) -> str:
    """For the settings; `decode_draft` reads it."""
    saved = {"values": draft.values, "rest": draft.other_fields}
    return json.dumps(saved, separators=(",", ":"))


def decode_draft(text: str) -> TrainingDraft:
    """An empty draft if the text is empty or unreadable."""
    try:
        saved = json.loads(text) if text else {}
    except ValueError:
        saved = {}
    saved = saved if isinstance(saved, dict) else {}
    values, others = saved.get("values"), saved.get("rest")
    sections: dict[SectionId, Values] = {
        section: dict(section_values)
        for section in SECTIONS
        if isinstance(values, dict) and isinstance(section_values := values.get(section), dict)
    }
    return TrainingDraft(sections, others if isinstance(others, dict) else {})


def parse_document(text: str | bytes) -> Values:
    """Parse a run configuration. Raises `UserError` if it is not a JSON object."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"This is not valid JSON: {error}.",
            remedy="Paste or select a complete run configuration.",
            code="C382",
        ) from None
    if not isinstance(document, dict):
        raise UserError(
            "This is not a run configuration.",
            remedy="It must be a JSON object, as created by “Copy as JSON”.",
            code="C383",
        )
    return document


def merge_patch(document: Mapping[str, Any], patch: Mapping[str, Any]) -> Values:
    """Apply a JSON merge patch (RFC 7396): null removes a field, objects are merged."""
    result: Values = dict(document)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = result.get(name)
            result[name] = merge_patch(inner if isinstance(inner, dict) else {}, value)
        else:
            result[name] = value
    return result


def _differences(document: Mapping[str, Any], defaults: Mapping[str, Any]) -> Values:
    differences: Values = {}
    for name, value in document.items():
        default = defaults.get(name)
        if isinstance(value, dict) and isinstance(default, dict) and default:
            if inner := _differences(value, default):
                differences[name] = inner
        elif not _is_equal(value, default):
            differences[name] = value
    return differences


def _set_path(document: Values, path: Path, value: Any) -> None:
    parent = document
    for key in path[:-1]:
        child = parent.setdefault(str(key), {})
        if not isinstance(child, dict):
            child = parent[str(key)] = {}
        parent = child
    parent[str(path[-1])] = value


def _pop_path(document: Values, path: Path) -> Any:
    parent: Any = document
    for key in path[:-1]:
        parent = parent.get(key) if isinstance(parent, dict) else None
    return parent.pop(path[-1], None) if isinstance(parent, dict) else None


def _drop_empty(document: Values) -> Values:
    inner = {
        name: _drop_empty(value) if isinstance(value, dict) else value
        for name, value in document.items()
    }
    return {name: value for name, value in inner.items() if value not in ({}, None)}
