"""TrainingDraft: what a person has filled in for one agent and environment, and its JSON forms.

`document_of` makes the run's configuration that the daemon takes; `draft_of` reads one back, from a
preset, a file or the clipboard. Fields without a control are kept in `rest`.
"""

import copy
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from gym_gui.runtime.models.run_text import short_id
from gym_gui.training.model.training_fields import FIELD_POSITIONS, SECTIONS, SectionId
from mosaic.contract.errors import UserError
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Path
from mosaic.contract.run_config import TrainRunConfig, to_json

Values = dict[str, Any]
MINIMAL_TELEMETRY: Mapping[str, Any] = {"steps": "sampled", "frames": True}
"""Every tenth episode in full, the others as columns, and pictures: hardly felt by training."""
_WARM_START = "warm_start"
_GIVEN_BY_THE_DOCK = ("worker", "algo", "env_id", "env_kwargs", "mode")
OF_THE_RUN_ALONE = ("parent_run", "lease_s", "actor", "episodes", "seeds")
"""What says nothing about another run that is trained alike."""


@dataclass(frozen=True, slots=True)
class TrainingDraft:
    """Only what differs from its default is in it."""

    values: Mapping[SectionId, Values] = field(default_factory=dict)
    rest: Values = field(default_factory=dict)

    @property
    def rest_in_words(self) -> str:
        """What it holds beyond its fields, for whoever is to launch it."""
        if not self.rest:
            return ""
        others = sorted(name for name in self.rest if name != _WARM_START)
        run_id = str(self.rest.get(_WARM_START) or "").partition(".")[0]
        told = f"Begins with what run {short_id(run_id)} had learned." if run_id else ""
        return f"{told} Set without a field here: {', '.join(others)}.".strip() if others else told

    def of(self, section: SectionId) -> Values:
        return dict(self.values.get(section, {}))

    def with_values(self, section: SectionId, values: Values) -> "TrainingDraft":
        return replace(self, values={**self.values, section: dict(values)})

    def without_defaults(
        self, section: SectionId, parameters: Sequence[Parameter]
    ) -> "TrainingDraft":
        """Of the section, without values that these parameters have by themselves."""
        defaults = {parameter.name: parameter.default for parameter in parameters}
        values = {
            name: value
            for name, value in self.of(section).items()
            if name not in defaults or not _is_same(value, defaults[name])
        }
        return self.with_values(section, values)

    @property
    def tags(self) -> tuple[str, ...]:
        told = str(self.of("about").get("tags") or "")
        return tuple(dict.fromkeys(tag.strip() for tag in told.split(",") if tag.strip()))

    @property
    def note(self) -> str:
        return str(self.of("about").get("note") or "").strip()


@dataclass(frozen=True, slots=True)
class Target:
    """What the draft is for."""

    worker: str = ""
    algo: str = ""
    env_id: str = ""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)


def document_of(
    draft: TrainingDraft,
    target: Target,
    *,
    is_minimal: bool,
    default_proxy: str = "",
    implied_extras: Collection[str] = (),
) -> Values:
    """The configuration as JSON; nothing has been checked."""
    document: Values = copy.deepcopy(draft.rest)
    document |= {"worker": target.worker, "algo": target.algo, "env_id": target.env_id}
    if target.env_kwargs:
        document["env_kwargs"] = dict(target.env_kwargs)
    for position in FIELD_POSITIONS:
        values = draft.of(position.section)
        if position.name in values and position.name != "proxy":
            _put(document, position.path, values[position.name])
    tracking = draft.of("tracking")
    if tracking.get("use_proxy"):
        _put(document, ("artifacts", "wandb", "proxy"), tracking.get("proxy") or default_proxy)
    if params := draft.of("params"):
        document["params"] = params
    chosen = dict.fromkeys(implied_extras, True) | draft.of("extras")
    if extras := sorted(name for name, is_on in chosen.items() if is_on):
        _put(document, ("bundle", "extras"), extras)
    if is_minimal:
        document["telemetry"] = dict(MINIMAL_TELEMETRY)
    return document


def draft_of(document: Mapping[str, Any]) -> TrainingDraft:
    """What a configuration says, but for the agent and the environment."""
    rest: Values = copy.deepcopy(dict(document))
    for name in _GIVEN_BY_THE_DOCK:
        rest.pop(name, None)
    values: dict[SectionId, Values] = {section: {} for section in SECTIONS}
    for position in FIELD_POSITIONS:
        value = _take(rest, position.path)
        if value is not None:
            values[position.section][position.name] = value
    if "proxy" in values["tracking"]:
        values["tracking"]["use_proxy"] = True
    # What is no such thing stays where it is, so that it is said to be wrong.
    if isinstance(rest.get("params"), dict):
        values["params"] = rest.pop("params")
    extras = _take(rest, ("bundle", "extras"))
    if isinstance(extras, list):
        values["extras"] = {str(name): True for name in extras}
    elif extras is not None:
        _put(rest, ("bundle", "extras"), extras)
    if rest.get("telemetry") == MINIMAL_TELEMETRY:
        rest.pop("telemetry")
    return TrainingDraft(values, _without_empty(rest))


def without_defaults(document: Mapping[str, Any]) -> Values:
    """A run's configuration as short as somebody would write it: the stored one has every field."""
    given = {"worker": document.get("worker"), "env_id": document.get("env_id")}
    try:
        bare = msgspec.json.decode(to_json(msgspec.convert(given, TrainRunConfig)))
    except msgspec.ValidationError:
        bare = {}
    return {**given, **_without_empty(_differing(document, bare))}


def _is_same(value: Any, other: Any) -> bool:
    """As JSON, where true is not 1."""
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def is_minimal(document: Mapping[str, Any]) -> bool:
    return document.get("telemetry") == MINIMAL_TELEMETRY


def draft_text(draft: TrainingDraft) -> str:
    """To be remembered."""
    return json.dumps({"values": draft.values, "rest": draft.rest}, separators=(",", ":"))


def remembered_draft(text: str) -> TrainingDraft:
    """What was remembered; an empty draft when that is nothing or cannot be read."""
    try:
        told = json.loads(text) if text else {}
    except ValueError:
        told = {}
    whole: Values = told if isinstance(told, dict) else {}
    values, rest = whole.get("values"), whole.get("rest")
    kept: dict[SectionId, Values] = {
        section: dict(given)
        for section in SECTIONS
        if isinstance(values, dict) and isinstance(given := values.get(section), dict)
    }
    return TrainingDraft(kept, rest if isinstance(rest, dict) else {})


def document_in(text: str | bytes) -> Values:
    """The JSON object in a text that was pasted or read. Raises `UserError`."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"This is not valid JSON: {error}.",
            remedy="Copy or choose a whole run configuration.",
            code="C382",
        ) from None
    if not isinstance(told, dict):
        raise UserError(
            "This is not a run configuration.",
            remedy="It must be one JSON object, such as “Copy as JSON” makes.",
            code="C383",
        )
    return told


def merged(document: Mapping[str, Any], patch: Mapping[str, Any]) -> Values:
    """A JSON merge patch: null takes away, objects are gone into."""
    result: Values = dict(document)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = result.get(name)
            result[name] = merged(inner if isinstance(inner, dict) else {}, value)
        else:
            result[name] = value
    return result


def _differing(document: Mapping[str, Any], bare: Mapping[str, Any]) -> Values:
    found: Values = {}
    for name, value in document.items():
        other = bare.get(name)
        if isinstance(value, dict) and isinstance(other, dict) and other:
            if inner := _differing(value, other):
                found[name] = inner
        elif not _is_same(value, other):
            found[name] = value
    return found


def _put(document: Values, path: Path, value: Any) -> None:
    at = document
    for part in path[:-1]:
        inner = at.setdefault(str(part), {})
        if not isinstance(inner, dict):
            inner = at[str(part)] = {}
        at = inner
    at[str(path[-1])] = value


def _take(document: Values, path: Path) -> Any:
    at: Any = document
    for part in path[:-1]:
        at = at.get(part) if isinstance(at, dict) else None
    return at.pop(path[-1], None) if isinstance(at, dict) else None


def _without_empty(document: Values) -> Values:
    kept = {
        name: _without_empty(value) if isinstance(value, dict) else value
        for name, value in document.items()
    }
    return {name: value for name, value in kept.items() if value not in ({}, None)}
