"""TrainingForm: the agent to train, its draft and its presets.

Owned by `TrainingModel`, which submits `document`. Drafts are saved per worker, algorithm and
environment.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.services import Services
from gym_gui.runtime.settings_store import MINIMAL_TELEMETRY_KEY
from gym_gui.training.feed.launching import (
    delete_preset,
    load_preset,
    make_preset,
    presets_for,
    proxy_from_environment,
    read_config_file,
    save_preset,
    to_preset_name,
)
from gym_gui.training.model.training_badges import BadgeInfo, badges_of
from gym_gui.training.model.training_catalog import Agent, TrainingCatalog
from gym_gui.training.model.training_draft import (
    Target,
    TrainingDraft,
    Values,
    decode_draft,
    encode_draft,
    from_document,
    is_minimal,
    merge_patch,
    parse_document,
    to_document,
)
from gym_gui.training.model.training_fields import (
    SECTIONS,
    SectionId,
    implied_extras,
    parameters_of,
)
from gym_gui.training.model.training_problems import (
    SectionProblems,
    find_annotation_problems,
    find_problems,
    group_by_section,
)
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Problem
from mosaic.envs.catalog import environment

_AGENT_KEY = "training/agent"
_DRAFT_KEY = "training/draft"
_PARAMETER_SECTIONS = ("params", "more_params")
_PROXY_MISSING = Problem(
    ("artifacts", "wandb", "proxy"),
    "missing",
    "is empty, and the environment sets no proxy.",
    "Enter an address such as http://proxy:8080, or set WANDB_VPN_HTTPS_PROXY.",
)


class TrainingForm(QObject):
    """UI thread only."""

    agent_changed = Signal()
    """The agent or the catalog changed, and with it badges, help and fields."""
    agent_chosen = Signal()
    """The user chose an agent, possibly the same one; emitted after `agent_changed`."""
    draft_changed = Signal()
    """The draft was replaced, not edited."""
    problems_changed = Signal()
    document_changed = Signal()
    """`document` changed."""

    def __init__(
        self,
        catalog: TrainingCatalog,
        services: Services,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._default_proxy = proxy_from_environment()
        self.catalog = catalog
        self.presets = TrainingPresets(services, self)
        self.target = Target()
        self.draft = TrainingDraft()
        self.problems: SectionProblems = {}
        self._was_minimal = False
        self._preferred_agent = services.settings.text(_AGENT_KEY)
        catalog.loaded.connect(self._on_catalog)

    # The agent and its environment.

    def set_environment(self, env_id: str, env_kwargs: Mapping[str, Any]) -> None:
        if env_id == self.target.env_id:
            if dict(env_kwargs) != dict(self.target.env_kwargs):
                self.target = Target(self.target.worker, self.target.algo, env_id, dict(env_kwargs))
                self._check()
            return
        self.target = Target(self.target.worker, self.target.algo, env_id, dict(env_kwargs))
        self.catalog.set_environment(env_id)
        self._set_compatible_agent()

    def choose_agent(self, agent_id: str) -> None:
        """Set the agent that the user chose. Saved; preferred wherever it is compatible."""
        self._prefer_agent(agent_id)
        self.agent_chosen.emit()

    def _prefer_agent(self, agent_id: str) -> None:
        self._preferred_agent = agent_id
        self._services.settings.set(_AGENT_KEY, agent_id)
        self._set_agent(self.catalog.find(agent_id))

    @property
    def agent(self) -> Agent | None:
        return self.catalog.find(f"{self.target.worker}/{self.target.algo}")

    @property
    def badges(self) -> tuple[BadgeInfo, ...]:
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
            self.draft.section("artifacts"),
            self.draft.section("tracking"),
        )

    @property
    def recommended(self) -> Values:
        """Recommended parameters for the family of the environment that the draft lacks."""
        agent = self.agent
        if agent is None or agent.algorithm is None:
            return {}
        family = environment(self.target.env_id).family
        recommended = agent.algorithm.recommended.get(family, {})
        params = self.draft.section("params")
        defaults = {parameter.name: parameter.default for parameter in agent.algorithm.parameters}
        return {
            name: value
            for name, value in recommended.items()
            if params.get(name, defaults.get(name)) != value
        }

    def use_recommended(self) -> None:
        self._replace_draft(
            self.draft.with_values("params", {**self.draft.section("params"), **self.recommended})
        )

    # The draft.

    def values(self, section: SectionId) -> Values:
        """Values of a section. Both parameter sections are stored as `params` of the draft."""
        if section not in _PARAMETER_SECTIONS:
            return self.draft.section(section)
        names = {parameter.name for parameter in self.parameters(section)}
        params = self.draft.section("params")
        return {name: value for name, value in params.items() if name in names}

    def set_values(self, section: SectionId, values: Values) -> None:
        """Apply an edit of the user."""
        if values == self.values(section):
            return
        if section in _PARAMETER_SECTIONS:
            names = {parameter.name for parameter in self.parameters(section)}
            params = self.draft.section("params").items()
            others = {name: value for name, value in params if name not in names}
            self.draft = self.draft.with_values("params", others | values)
        else:
            self.draft = self.draft.with_values(section, values)
        self._save_draft()
        self._check()

    def section_problems(self, section: SectionId) -> tuple[Problem, ...]:
        """Problems of a section; those of an unknown parameter are in `params`."""
        if section not in _PARAMETER_SECTIONS:
            return self.problems.get(section, ())
        secondary = {parameter.name for parameter in self.parameters("more_params")}
        return tuple(
            problem
            for problem in self.problems.get("params", ())
            if (problem.path[0] in secondary) == (section == "more_params")
        )

    def reset(self) -> None:
        """Restore all defaults; offers to undo it."""
        before, target = self.draft, self.target
        self._replace_draft(TrainingDraft())

        def undo() -> None:
            if self.target == target:
                self._replace_draft(before)

        self._services.notices.offer("All settings were reset to their defaults.", "Undo", undo)

    @property
    def document(self) -> Values:
        """The run configuration to submit."""
        return to_document(
            self.draft,
            self.target,
            is_minimal=self.is_minimal,
            default_proxy=self._default_proxy,
            implied_extras=self._implied_extras,
        )

    def apply_document(self, document: Mapping[str, Any]) -> bool:
        """Load a configuration of a preset, a file or another run, and choose its agent.

        Returns False, and posts a notice, if the agent is unknown.
        """
        agent_id = f"{document.get('worker', self.target.worker)}/" + str(
            document.get("algo", self.target.algo)
        )
        if self.catalog.find(agent_id) is None:
            self._services.notices.post(
                f"Unknown agent {agent_id.replace('/', ' ')}; the settings were not changed.",
                tone="warning",
            )
            return False
        if agent_id != f"{self.target.worker}/{self.target.algo}":
            self._prefer_agent(agent_id)
        if is_minimal(document) != self.is_minimal and self.offers_minimal:
            self.set_minimal(is_minimal(document))
        self._replace_draft(self._drop_defaults(from_document(document)))
        env_id = document.get("env_id", self.target.env_id)
        if env_id != self.target.env_id:
            self._services.notices.post(
                f"Settings of {env_id} were applied to {self.target.env_id}."
            )
        return True

    def _drop_defaults(self, draft: TrainingDraft) -> TrainingDraft:
        """Remove values that equal their default, so that only changes are marked and saved."""
        self.draft = draft  # The implied extras depend on it.
        for section in SECTIONS:
            target: SectionId = "params" if section == "more_params" else section
            draft = draft.without_defaults(target, self.parameters(section))
        return draft

    @property
    def changed_count(self) -> int:
        """Number of settings that differ from their default."""
        return len(self.draft.other_fields) + sum(map(len, self.draft.values.values()))

    def remove_other_fields(self) -> None:
        self._replace_draft(replace(self.draft, other_fields={}))

    def paste(self, text: str) -> None:
        try:
            self.apply_document(parse_document(text))
        except UserError as error:
            self._services.notices.post_error(error)

    def import_file(self, path: str) -> None:
        self._services.tasks.run(
            self,
            lambda: read_config_file(Path(path)),
            lambda data: self.paste(data.decode("utf-8", "replace")),
            self._services.notices.post_error,
        )

    def export_file(self, path: str, data: bytes) -> None:
        self._services.tasks.run(
            self,
            lambda: write_atomically(Path(path), data),
            lambda _: self._services.notices.post(f"Saved {path}.", tone="good"),
            self._services.notices.post_error,
        )

    def save_preset(self, name: str) -> None:
        self.presets.save(name, self.document)

    def load_preset(self, name: str) -> None:
        self.presets.load(name, self.apply_document)

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
        return self.offers_minimal and self._services.settings.flag(key, False)

    def set_minimal(self, is_on: bool) -> None:
        self._services.settings.set(f"{MINIMAL_TELEMETRY_KEY}/{self.target.worker}", is_on)
        self._check()

    def refresh_minimal(self) -> None:
        """Another view may have changed minimal telemetry."""
        if self.is_minimal != self._was_minimal:
            self._check()

    # Updates.

    def _on_catalog(self) -> None:
        if self.agent is None or self.agent.reason:
            self._set_compatible_agent()
        else:
            self.agent_changed.emit()
            self._check()

    def _set_compatible_agent(self) -> None:
        agent = self.catalog.find(self._preferred_agent)
        if agent is None or agent.reason:
            agent = self.catalog.default_agent(self._preferred_agent)
        self._set_agent(agent)

    def _set_agent(self, agent: Agent | None) -> None:
        worker, algo = agent.id.split("/", 1) if agent else ("", "")
        self.target = Target(worker, algo, self.target.env_id, self.target.env_kwargs)
        self.draft = decode_draft(self._services.settings.text(self._draft_key()))
        if agent is not None:
            self.presets.list_for(worker, self.target.env_id)
        self.agent_changed.emit()
        self._check()

    def _replace_draft(self, draft: TrainingDraft) -> None:
        self.draft = draft
        self._save_draft()
        self.draft_changed.emit()
        self._check()

    def _draft_key(self) -> str:
        target = self.target
        return f"{_DRAFT_KEY}/{target.worker}/{target.algo}/{target.env_id}"

    def _save_draft(self) -> None:
        if self.target.worker:
            self._services.settings.set(self._draft_key(), encode_draft(self.draft))

    def _check(self) -> None:
        self._was_minimal = self.is_minimal
        agent = self.agent
        problems: tuple[Problem, ...] = ()
        if agent is not None and agent.descriptor is not None and self.target.env_id:
            problems = find_problems(self.document, agent.descriptor)
            tracking = self.draft.section("tracking")
            if tracking.get("use_proxy") and not (tracking.get("proxy") or self._default_proxy):
                others = (problem for problem in problems if problem.path != _PROXY_MISSING.path)
                problems = (*others, _PROXY_MISSING)
            problems += find_annotation_problems(self.draft.tags, self.draft.note)
        self.show_problems(problems)
        self.document_changed.emit()

    def show_problems(self, problems: tuple[Problem, ...]) -> None:
        """Replace the problems, found locally or reported by the daemon."""
        self.problems = group_by_section(problems)
        self.problems_changed.emit()

    def patch(self, text: str) -> None:
        """Apply a JSON merge patch, such as the remedy of a preflight check."""
        self.apply_document(merge_patch(self.document, parse_document(text)))


class TrainingPresets(QObject):
    """The presets of a worker and an environment. Owned by `TrainingForm`."""

    changed = Signal()

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._home = services.link.home
        self.names: tuple[str, ...] = ()
        self._worker = ""
        self._env_id = ""

    def list_for(self, worker: str, env_id: str) -> None:
        """List the presets again, of this worker and environment."""
        self._worker, self._env_id = worker, env_id

        def show(names: tuple[str, ...]) -> None:
            if (worker, env_id) == (self._worker, self._env_id) and names != self.names:
                self.names = names
                self.changed.emit()

        self._services.tasks.run(self, lambda: presets_for(self._home, worker, env_id), show)

    def save(self, title: str, document: Mapping[str, Any]) -> None:
        name = to_preset_name(title)

        def on_saved(_path: Path) -> None:
            self._services.notices.post(f"Saved the preset {name}.", tone="good")
            self._refresh()

        preset = make_preset(document)
        self._services.tasks.run(
            self,
            lambda: save_preset(self._home, name, preset),
            on_saved,
            self._services.notices.post_error,
        )

    def load(self, name: str, apply: Callable[[Mapping[str, Any]], object]) -> None:
        def on_loaded(document: dict[str, Any]) -> None:
            apply(document)

        def on_failure(error: UserError) -> None:
            self._services.notices.post_error(error)
            self._refresh()

        self._services.tasks.run(self, lambda: load_preset(self._home, name), on_loaded, on_failure)

    def delete(self, name: str) -> None:
        """Offers to undo it."""

        def on_deleted(document: dict[str, Any]) -> None:
            self._services.notices.offer(
                f"Deleted the preset {name}.", "Undo", lambda: self.save(name, document)
            )
            self._refresh()

        self._services.tasks.run(
            self,
            lambda: delete_preset(self._home, name),
            on_deleted,
            self._services.notices.post_error,
        )

    def _refresh(self) -> None:
        self.list_for(self._worker, self._env_id)
