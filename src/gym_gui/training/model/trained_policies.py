"""TrainedPolicies: list model of the saved policies of the agent and environment.

Shown under *Use trained*. The chosen policy becomes the actor of the session panel; the choice is
saved per agent and environment. Created by the training dock.
"""

import time
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    SignalInstance,
)

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.actors_model import ActorsModel, reason_of
from gym_gui.runtime.models.formatting import format_significant
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.training.feed.saved_policies import SavedPolicy, fetch_policies
from gym_gui.training.model.training_form import TrainingForm
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_amount, format_size

POLICY_ROLE = int(Qt.ItemDataRole.UserRole)
_POLICY_KEY = "training/policy"
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400
_JUST_NOW_S = 45
_EXACT_BELOW = 10_000


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """The texts of one row."""

    title: str
    marks: tuple[str, ...]
    """`best`, `last`, both or none."""
    details: str
    reason: str
    """Why it cannot act; empty: it can."""
    is_chosen: bool


class Activity(Protocol):
    """Whether a session is active."""

    @property
    def is_running(self) -> bool: ...


class PolicySession(Protocol):
    """The session in which a policy acts; implemented by `SessionPanelModel`."""

    @property
    def changed(self) -> SignalInstance: ...
    @property
    def actors(self) -> ActorsModel: ...
    @property
    def activity(self) -> Activity: ...
    @property
    def actor_id(self) -> str: ...
    def refresh_actors(self) -> None: ...
    def choose_actor(self, actor_id: str) -> None: ...


class TrainedPolicies(QAbstractListModel):
    """Newest first. UI thread only; the daemon is queried on a thread."""

    changed = Signal()
    """The list, the chosen policy or `problem` changed."""

    def __init__(
        self,
        services: Services,
        runs: RunsModel,
        session: PolicySession,
        form: TrainingForm,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._runs = runs
        self._session = session
        self._form = form
        self._policies: tuple[SavedPolicy, ...] = ()
        self._target = ("", "", "")
        self._pending_policy = ""
        """Chosen once the daemon lists it as an actor."""
        self._must_choose = False
        self._is_watched = False
        self._is_stale = True
        self.is_known = False
        self.problem: UserError | None = None
        form.agent_changed.connect(self._on_agent)
        form.agent_chosen.connect(self._on_agent_chosen)
        runs.artifacts_changed.connect(lambda _: self.refresh())
        runs.run_changed.connect(self._on_run_changed)
        session.actors.loaded.connect(self._on_actors)
        session.changed.connect(self._emit_changed)
        self._on_agent()

    @property
    def policies(self) -> tuple[SavedPolicy, ...]:
        return self._policies

    @property
    def chosen_row(self) -> int:
        """-1: the actor is not one of these policies."""
        actor = self._session.actor_id
        rows = (row for row, policy in enumerate(self._policies) if policy.id == actor)
        return next(rows, -1)

    def set_watched(self, is_watched: bool) -> None:
        """The list is fetched only while it is visible."""
        self._is_watched = is_watched
        if is_watched and self._is_stale:
            self._fetch()
        self._choose_for_worker()

    def choose(self, row: int) -> None:
        """Make the policy the actor, also of a running session."""
        if 0 <= row < len(self._policies):
            self._choose(self._policies[row].id)

    def row(self, number: int) -> PolicyRow:
        policy = self._policies[number]
        actor = self._session.actors.find(policy.id)
        details = (
            f"step {_short_step(policy.step)}" if policy.step is not None else policy.file,
            f"return {format_significant(policy.mean_return)}"
            if policy.mean_return is not None
            else "",
            age(time.time() - policy.saved_at),
            format_size(policy.size_bytes),
        )
        marks = (("best", policy.is_best), ("last", policy.is_last))
        return PolicyRow(
            title=self._title(policy),
            marks=tuple(mark for mark, is_set in marks if is_set),
            details=" · ".join(detail for detail in details if detail),
            reason=reason_of(actor) if actor is not None else "",
            is_chosen=policy.id == self._session.actor_id,
        )

    # QAbstractListModel.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self._policies)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if not 0 <= index.row() < len(self._policies):
            return None
        row = self.row(index.row())
        match role:
            case _ if role == POLICY_ROLE:
                return row
            case Qt.ItemDataRole.DisplayRole:
                return row.title
            case Qt.ItemDataRole.ToolTipRole:
                policy = self._policies[index.row()]
                step = f"\nstep {policy.step:,}" if policy.step is not None else ""
                return row.reason or f"{row.title}\n{row.details}{step}\n{policy.file}"
            case Qt.ItemDataRole.AccessibleTextRole:
                active = "active actor" if row.is_chosen else ""
                texts = (row.title, *row.marks, row.details, row.reason, active)
                return ", ".join(text for text in texts if text)
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if not 0 <= index.row() < len(self._policies) or self.row(index.row()).reason:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    # Updates.

    def _on_agent(self) -> None:
        target = self._form.target
        if (target.worker, target.algo, target.env_id) != self._target:
            self._target = (target.worker, target.algo, target.env_id)
            self._pending_policy = ""
            self._must_choose = False
            self.is_known = False
            self._show(())
            self.refresh()

    def _on_agent_chosen(self) -> None:
        """Choose the saved policy of the agent, or its newest."""
        self._must_choose = self._is_watched
        if self.is_known:
            self._choose_for_agent()

    def _on_run_changed(self, run_id: str) -> None:
        if any(policy.run_id == run_id for policy in self._policies):
            self._emit_changed()  # The run was renamed or deleted.
            if self._runs.by_id(run_id) is None:
                self.refresh()

    def refresh(self) -> None:
        """Fetch the list again, now or when it becomes visible."""
        self._is_stale = True
        if self._is_watched:
            self._fetch()

    def _fetch(self) -> None:
        worker, algo, env_id = self._target
        if not (worker and env_id and self._services.link.has_client):
            return
        self._is_stale = False
        target = self._target
        self._services.call(
            self,
            lambda client: fetch_policies(client, worker, algo, env_id),
            lambda policies: self._on_policies(target, policies),
            lambda error: self._on_failure(target, error),
        )

    def _on_policies(self, target: tuple[str, str, str], policies: tuple[SavedPolicy, ...]) -> None:
        if target != self._target:
            return  # A reply for another agent.
        self.problem = None
        self.is_known = True
        if policies != self._policies:
            self._show(policies)
            if any(self._session.actors.find(policy.id) is None for policy in policies):
                self._session.refresh_actors()
        self._choose_for_agent()
        self.changed.emit()

    def _on_failure(self, target: tuple[str, str, str], error: UserError) -> None:
        if target == self._target:
            self.problem = error
            self.is_known = True
            self._is_stale = True
            self.changed.emit()

    def _choose_for_agent(self) -> None:
        if not self._must_choose:
            return
        self._must_choose = False
        saved = self._services.settings.text(self._settings_key())
        ids = [policy.id for policy in self._policies]
        if ids:
            self._choose(saved if saved in ids else ids[0])

    def _choose_for_worker(self) -> None:
        """If the actor is the worker itself, choose one of its policies."""
        session = self._session
        is_worker = session.actor_id == self._target[0] and not session.activity.is_running
        if self._is_watched and is_worker:
            self._must_choose = True
            if self.is_known:
                self._choose_for_agent()

    def _choose(self, policy_id: str) -> None:
        self._services.settings.set(self._settings_key(), policy_id)
        if self._session.actors.find(policy_id) is None:
            self._pending_policy = policy_id
            self._session.refresh_actors()
            return
        self._pending_policy = ""
        self._session.choose_actor(policy_id)
        self._emit_changed()

    def _on_actors(self) -> None:
        if self._pending_policy and self._session.actors.find(self._pending_policy) is not None:
            self._choose(self._pending_policy)
        self._choose_for_worker()
        self._emit_changed()

    def _settings_key(self) -> str:
        return "/".join((_POLICY_KEY, *self._target))

    def _title(self, policy: SavedPolicy) -> str:
        if not policy.run_id:
            return f"Imported: {policy.file}"
        run = self._runs.by_id(policy.run_id)
        return run_text.title_of(run) if run else f"Run {run_text.short_id(policy.run_id)}"

    def _show(self, policies: tuple[SavedPolicy, ...]) -> None:
        self.beginResetModel()
        self._policies = policies
        self.endResetModel()
        self.changed.emit()

    def _emit_changed(self) -> None:
        if self._policies:
            self.dataChanged.emit(self.index(0), self.index(len(self._policies) - 1))
        self.changed.emit()


def _short_step(step: int) -> str:
    """`3,584`, `18.4 k`: short enough for a narrow dock."""
    return f"{step:,}" if step < _EXACT_BELOW else format_amount(step)


def age(seconds: float) -> str:
    """`just now`, `3 min ago`, `2 days ago`."""
    if seconds < _JUST_NOW_S:
        return "just now"
    if seconds < _HOUR_S:
        return f"{max(1, round(seconds / _MINUTE_S))} min ago"
    if seconds < _DAY_S:
        return f"{round(seconds / _HOUR_S)} h ago"
    days = round(seconds / _DAY_S)
    return f"{days} day{'s' if days > 1 else ''} ago"
