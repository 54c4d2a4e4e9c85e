"""TrainingForm: the agent that is to be trained, and what was filled in for it.

Owned by `TrainingModel`, which takes `document` from here. Drafts are remembered per worker,
algorithm and environment.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.settings_store import MINIMAL_TELEMETRY_KEY
from gym_gui.training.feed.launching import Launcher, proxy_of_environment
from gym_gui.training.model.training_badges import BadgeFact, badges_of
from gym_gui.training.model.training_catalog import Agent, TrainingCatalog
from gym_gui.training.model.training_draft import (
    Target,
    TrainingDraft,
    Values,
    document_in,
    document_of,
    draft_of,
    draft_text,
    is_minimal,
    merged,
    remembered_draft,
)
from gym_gui.training.model.training_fields import (
    SECTIONS,
    SectionId,
    implied_extras,
    parameters_of,
)
from gym_gui.training.model.training_presets import TrainingPresets
from gym_gui.training.model.training_problems import (
    Located,
    find_problems,
    located,
    problems_of_annotations,
)
from mosaic.contract.errors import UserError
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Problem
from mosaic.envs.catalog import environment

_AGENT_KEY = "training/agent"
_DRAFT_KEY = "training/draft"
_OF_ALGORITHM = ("params", "more_params")
_PROXY_MISSING = Problem(
    ("artifacts", "wandb", "proxy"),
    "missing",
    "is empty, and the environment names none.",
    "Give an address such as http://proxy:8080, or set WANDB_VPN_HTTPS_PROXY.",
)


class TrainingSettings(Protocol):
    """What the window remembers from one start to the next."""

    def text(self, key: str, default: str = "") -> str: ...
    def flag(self, key: str, default: bool) -> bool: ...
    def set(self, key: str, value: str | bool) -> None: ...


class TrainingForm(QObject):
    """All of it is for the UI thread."""

    agent_changed = Signal()
    """Another agent, or the catalog is new: badges, help and the form's fields."""
    agent_chosen = Signal()
    """A person chose an agent, perhaps the one it was; after `agent_changed`."""
    draft_changed = Signal()
    """The values were replaced, not typed."""
    problems_changed = Signal()
    document_changed = Signal()
    """What would be submitted is new."""

    def __init__(
        self,
        catalog: TrainingCatalog,
        launcher: Launcher,
        notices: Notices,
        settings: TrainingSettings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._launcher = launcher
        self._notices = notices
        self._settings = settings
        self._default_proxy = proxy_of_environment()
        self.catalog = catalog
        self.presets = TrainingPresets(launcher, notices, self)
        self.target = Target()
        self.draft = TrainingDraft()
        self.problems: Located = {}
        self._was_minimal = False
        self._wished_agent = settings.text(_AGENT_KEY)
        catalog.loaded.connect(self._on_catalog)

    # The agent and its environment.

    def set_environment(self, env_id: str, env_kwargs: Mapping[str, Any]) -> None:
        if env_id == self.target.env_id:
            if dict(env_kwargs) != dict(self.target.env_kwargs):
                self.target = Target(self.target.worker, self.target.algo, env_id, dict(env_kwargs))
                self._check()
            return
        self.target = Target(self.target.worker, self.target.algo, env_id, dict(env_kwargs))
        self.catalog.look_at(env_id)
        self._choose_fitting()

    def choose_agent(self, agent_id: str) -> None:
        """By the person; remembered, also when another environment asks for another one."""
        self._wish_agent(agent_id)
        self.agent_chosen.emit()

    def _wish_agent(self, agent_id: str) -> None:
        self._wished_agent = agent_id
        self._settings.set(_AGENT_KEY, agent_id)
        self._take_agent(self.catalog.find(agent_id))

    @property
    def agent(self) -> Agent | None:
        return self.catalog.find(f"{self.target.worker}/{self.target.algo}")

    @property
    def badges(self) -> tuple[BadgeFact, ...]:
        agent = self.agent
        return badges_of(agent, self.catalog.catalog) if agent else ()

    def parameters(self, section: SectionId) -> tuple[Parameter, ...]:
        agent = self.agent
        if agent is None or agent.descriptor is None or agent.algorithm is None:
            return ()
        return parameters_of(
            section, agent.descriptor, agent.algorithm.parameters, self._implied_extras
        )

    @property
    def _implied_extras(self) -> frozenset[str]:
        agent = self.agent
        if agent is None or agent.descriptor is None:
            return frozenset()
        return implied_extras(
            agent.descriptor,
            environment(self.target.env_id).family,
            self.draft.of("artifacts"),
            self.draft.of("tracking"),
        )

    @property
    def recommended(self) -> Values:
        """What the algorithm recommends for the environment's family and the draft has not."""
        agent = self.agent
        if agent is None or agent.algorithm is None:
            return {}
        wanted = agent.algorithm.recommended.get(environment(self.target.env_id).family, {})
        given = self.draft.of("params")
        defaults = {each.name: each.default for each in agent.algorithm.parameters}
        return {
            name: value
            for name, value in wanted.items()
            if given.get(name, defaults.get(name)) != value
        }

    def use_recommended(self) -> None:
        self._replace_draft(
            self.draft.with_values("params", {**self.draft.of("params"), **self.recommended})
        )

    # The draft.

    def values(self, section: SectionId) -> Values:
        """Of the section's fields; the algorithm's are in two sections, and in the draft one."""
        if section not in _OF_ALGORITHM:
            return self.draft.of(section)
        names = {parameter.name for parameter in self.parameters(section)}
        given = self.draft.of("params")
        return {name: value for name, value in given.items() if name in names}

    def set_values(self, section: SectionId, values: Values) -> None:
        """Typed by the person."""
        if values == self.values(section):
            return
        if section in _OF_ALGORITHM:
            names = {parameter.name for parameter in self.parameters(section)}
            given = self.draft.of("params").items()
            kept = {name: value for name, value in given if name not in names}
            self.draft = self.draft.with_values("params", kept | values)
        else:
            self.draft = self.draft.with_values(section, values)
        self._keep_draft()
        self._check()

    def section_problems(self, section: SectionId) -> tuple[Problem, ...]:
        """Those of its fields; of a parameter that is in no section, with the first."""
        if section not in _OF_ALGORITHM:
            return self.problems.get(section, ())
        later = {parameter.name for parameter in self.parameters("more_params")}
        return tuple(
            problem
            for problem in self.problems.get("params", ())
            if (problem.path[0] in later) == (section == "more_params")
        )

    def reset(self) -> None:
        """Everything back to its default; it can be undone."""
        before, target = self.draft, self.target
        self._replace_draft(TrainingDraft())

        def undo() -> None:
            if self.target == target:
                self._replace_draft(before)

        self._notices.offer("Everything is back to its default.", "Undo", undo)

    @property
    def document(self) -> Values:
        """The configuration as it would be submitted."""
        return document_of(
            self.draft,
            self.target,
            is_minimal=self.is_minimal,
            default_proxy=self._default_proxy,
            implied_extras=self._implied_extras,
        )

    def take_document(self, document: Mapping[str, Any]) -> bool:
        """Of a preset, a file or another run. Another agent is chosen when it names one.

        Returns whether it could be taken; the person is told why not.
        """
        agent_id = f"{document.get('worker', self.target.worker)}/" + str(
            document.get("algo", self.target.algo)
        )
        if self.catalog.find(agent_id) is None:
            self._notices.post(
                f"There is no {agent_id.replace('/', ' ')} here; the settings stay as they are.",
                tone="warning",
            )
            return False
        if agent_id != f"{self.target.worker}/{self.target.algo}":
            self._wish_agent(agent_id)
        if is_minimal(document) != self.is_minimal and self.offers_minimal:
            self.set_minimal(is_minimal(document))
        self._replace_draft(self._tidy(draft_of(document)))
        there = document.get("env_id", self.target.env_id)
        if there != self.target.env_id:
            self._notices.post(
                f"These settings are of {there}; they were taken over for {self.target.env_id}."
            )
        return True

    def _tidy(self, draft: TrainingDraft) -> TrainingDraft:
        """Without what is as it would be anyway: only changes are marked, and kept."""
        self.draft = draft  # which extras are on by themselves depends on it
        for section in SECTIONS:
            kept: SectionId = "params" if section == "more_params" else section
            draft = draft.without_defaults(kept, self.parameters(section))
        return draft

    @property
    def without_field(self) -> tuple[str, ...]:
        """What was pasted or loaded and has no field here: it goes into the run all the same."""
        return tuple(sorted(self.draft.rest))

    @property
    def changed_count(self) -> int:
        """How many settings are not as they would be by themselves."""
        return len(self.draft.rest) + sum(map(len, self.draft.values.values()))

    def leave_out_rest(self) -> None:
        self._replace_draft(replace(self.draft, rest={}))

    def paste(self, text: str) -> None:
        try:
            self.take_document(document_in(text))
        except UserError as error:
            self._notices.fail(error)

    def import_file(self, path: str) -> None:
        self._launcher.read_file(
            self, path, lambda data: self.paste(data.decode("utf-8", "replace")), self._notices.fail
        )

    def export_file(self, path: str, data: bytes) -> None:
        self._launcher.write_file(
            self,
            path,
            data,
            lambda _: self._notices.post(f"Saved as {path}.", tone="good"),
            self._notices.fail,
        )

    def save_preset(self, name: str) -> None:
        self.presets.save(name, self.document)

    def load_preset(self, name: str) -> None:
        self.presets.load(name, self.take_document)

    # Minimal telemetry: a setting per worker, shared with the live view.

    @property
    def skips_live_telemetry(self) -> bool:
        agent = self.agent
        return (
            agent is not None
            and agent.descriptor is not None
            and (agent.descriptor.lane == "analytics")
        )

    @property
    def offers_minimal(self) -> bool:
        descriptor = self.agent.descriptor if self.agent else None
        return (
            self.skips_live_telemetry
            and descriptor is not None
            and descriptor.supports.minimal_telemetry
        )

    @property
    def is_minimal(self) -> bool:
        key = f"{MINIMAL_TELEMETRY_KEY}/{self.target.worker}"
        return self.offers_minimal and self._settings.flag(key, False)

    def set_minimal(self, is_on: bool) -> None:
        self._settings.set(f"{MINIMAL_TELEMETRY_KEY}/{self.target.worker}", is_on)
        self._check()

    def look_at_minimal(self) -> None:
        """Another view may have changed the setting."""
        if self.is_minimal != self._was_minimal:
            self._check()

    # What follows from all that.

    def _on_catalog(self) -> None:
        if self.agent is None or self.agent.reason:
            self._choose_fitting()
        else:
            self.agent_changed.emit()
            self._check()

    def _choose_fitting(self) -> None:
        wished = self.catalog.find(self._wished_agent)
        if wished is None or wished.reason:
            wished = self.catalog.to_begin_with(self._wished_agent)
        self._take_agent(wished)

    def _take_agent(self, agent: Agent | None) -> None:
        worker, algo = agent.id.split("/", 1) if agent else ("", "")
        self.target = Target(worker, algo, self.target.env_id, self.target.env_kwargs)
        self.draft = remembered_draft(self._settings.text(self._draft_key()))
        if agent is not None:
            self.presets.look_at(worker, self.target.env_id)
        self.agent_changed.emit()
        self._check()

    def _replace_draft(self, draft: TrainingDraft) -> None:
        self.draft = draft
        self._keep_draft()
        self.draft_changed.emit()
        self._check()

    def _draft_key(self) -> str:
        target = self.target
        return f"{_DRAFT_KEY}/{target.worker}/{target.algo}/{target.env_id}"

    def _keep_draft(self) -> None:
        if self.target.worker:
            self._settings.set(self._draft_key(), draft_text(self.draft))

    def _check(self) -> None:
        self._was_minimal = self.is_minimal
        agent = self.agent
        found: tuple[Problem, ...] = ()
        if agent is not None and agent.descriptor is not None and self.target.env_id:
            found = find_problems(self.document, agent.descriptor)
            tracking = self.draft.of("tracking")
            if tracking.get("use_proxy") and not (tracking.get("proxy") or self._default_proxy):
                found = (*(p for p in found if p.path != _PROXY_MISSING.path), _PROXY_MISSING)
            found += problems_of_annotations(self.draft.tags, self.draft.note)
        self.show_problems(found)
        self.document_changed.emit()

    def show_problems(self, problems: tuple[Problem, ...]) -> None:
        """Found here, or said by the daemon."""
        self.problems = located(problems)
        self.problems_changed.emit()

    def patch(self, text: str) -> None:
        """A JSON merge patch, such as a remedy of preflight has."""
        self.take_document(merged(self.document, document_in(text)))
