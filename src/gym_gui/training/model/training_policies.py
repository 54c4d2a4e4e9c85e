"""TrainedPolicies: what the chosen agent has learned in the chosen environment, to be played.

The list of *Use trained*. Whoever is chosen in it becomes the actor of the session panel; which one
that was is remembered per agent and environment. Made by the training desk.
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
from gym_gui.runtime.models.number_text import significant, size
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.settings_store import TextSettings
from gym_gui.training.feed.saved_policies import PolicyShelf, SavedPolicy
from gym_gui.training.model.training_form import TrainingForm
from mosaic.contract.errors import UserError

POLICY_ROLE = int(Qt.ItemDataRole.UserRole)
_KEY = "training/policy"
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400
_FEW_S = 45
_WHOLE_BELOW = 10_000


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One line of the list, in words."""

    title: str
    marks: tuple[str, ...]
    """Such as `best`."""
    facts: str
    reason: str
    """Why it cannot act; empty when it can."""
    is_chosen: bool


class Activity(Protocol):
    @property
    def is_running(self) -> bool: ...


class ActingSession(Protocol):
    """The session panel, as far as a saved policy acts in it; `SessionPanelModel` is one."""

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
    """The newest first. All of it is for the UI thread; asking the daemon is not."""

    changed = Signal()
    """The list, the chosen one, or why there is none."""

    def __init__(
        self,
        shelf: PolicyShelf,
        runs: RunsModel,
        session: ActingSession,
        form: TrainingForm,
        memory: TextSettings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._runs = runs
        self._session = session
        self._form = form
        self._memory = memory
        self._policies: tuple[SavedPolicy, ...] = ()
        self._of = ("", "", "")
        self._wished = ""
        """To be chosen as soon as the daemon knows it as an actor."""
        self._is_agent_new = False
        self._is_watched = False
        self._is_stale = True
        self.is_known = False
        self.problem: UserError | None = None
        form.agent_changed.connect(self._on_agent)
        form.agent_chosen.connect(self._on_agent_chosen)
        runs.artifacts_changed.connect(lambda _: self.refresh())
        runs.run_changed.connect(self._on_run_changed)
        session.actors.loaded.connect(self._on_actors)
        session.changed.connect(self._repaint)
        self._on_agent()

    @property
    def policies(self) -> tuple[SavedPolicy, ...]:
        return self._policies

    @property
    def chosen_row(self) -> int:
        """-1: whoever is to act is none of these."""
        actor = self._session.actor_id
        return next((at for at, each in enumerate(self._policies) if each.id == actor), -1)

    def set_watched(self, is_watched: bool) -> None:
        """Nothing is asked for while nobody looks."""
        self._is_watched = is_watched
        if is_watched and self._is_stale:
            self._ask()
        self._choose_for_worker()

    def choose(self, row: int) -> None:
        """By the person: it acts from now on, also in a session that is going on."""
        if 0 <= row < len(self._policies):
            self._choose(self._policies[row].id)

    def row(self, at: int) -> PolicyRow:
        policy = self._policies[at]
        actor = self._session.actors.find(policy.id)
        told = (
            f"step {_in_short(policy.step)}" if policy.step is not None else policy.file,
            f"return {significant(policy.mean_return)}" if policy.mean_return is not None else "",
            age(time.time() - policy.saved_at),
            size(policy.size_bytes),
        )
        marks = (("best", policy.is_best), ("last", policy.is_last))
        return PolicyRow(
            title=self._title(policy),
            marks=tuple(word for word, is_so in marks if is_so),
            facts=" · ".join(part for part in told if part),
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
                return row.reason or f"{row.title}\n{row.facts}{step}\n{policy.file}"
            case Qt.ItemDataRole.AccessibleTextRole:
                words = (row.title, *row.marks, row.facts, row.reason)
                is_chosen = ", acts" if row.is_chosen else ""
                return ", ".join(word for word in words if word) + is_chosen
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if not 0 <= index.row() < len(self._policies) or self.row(index.row()).reason:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    # What happens.

    def _on_agent(self) -> None:
        target = self._form.target
        if (target.worker, target.algo, target.env_id) != self._of:
            self._of = (target.worker, target.algo, target.env_id)
            self._wished = ""
            self._is_agent_new = False
            self.is_known = False
            self._show(())
            self.refresh()

    def _on_agent_chosen(self) -> None:
        """Whoever chooses an agent here means its policies: the one it had, or the newest."""
        self._is_agent_new = self._is_watched
        if self.is_known:
            self._choose_for_agent()

    def _on_run_changed(self, run_id: str) -> None:
        if any(policy.run_id == run_id for policy in self._policies):
            self._repaint()  # its name may be another one, or it was deleted
            if self._runs.by_id(run_id) is None:
                self.refresh()

    def refresh(self) -> None:
        """Ask anew, as soon as somebody looks."""
        self._is_stale = True
        if self._is_watched:
            self._ask()

    def _ask(self) -> None:
        worker, algo, env_id = self._of
        if not (worker and env_id and self._shelf.can_query):
            return
        self._is_stale = False
        asked = self._of
        self._shelf.ask(
            self,
            worker,
            algo,
            env_id,
            lambda policies: self._take(asked, policies),
            lambda error: self._fail(asked, error),
        )

    def _take(self, asked: tuple[str, str, str], policies: tuple[SavedPolicy, ...]) -> None:
        if asked != self._of:
            return  # Another agent was chosen meanwhile.
        self.problem = None
        self.is_known = True
        if policies != self._policies:
            self._show(policies)
            if any(self._session.actors.find(policy.id) is None for policy in policies):
                self._session.refresh_actors()
        self._choose_for_agent()
        self.changed.emit()

    def _fail(self, asked: tuple[str, str, str], error: UserError) -> None:
        if asked == self._of:
            self.problem = error
            self.is_known = True
            self._is_stale = True
            self.changed.emit()

    def _choose_for_agent(self) -> None:
        if not self._is_agent_new:
            return
        self._is_agent_new = False
        kept = self._memory.text(self._memory_key())
        ids = [policy.id for policy in self._policies]
        if ids:
            self._choose(kept if kept in ids else ids[0])

    def _choose_for_worker(self) -> None:
        """A worker that is to act plays its newest policy: whoever looks here sees which it is."""
        session = self._session
        is_meant = session.actor_id == self._of[0] and not session.activity.is_running
        if self._is_watched and is_meant:
            self._is_agent_new = True
            if self.is_known:
                self._choose_for_agent()

    def _choose(self, policy_id: str) -> None:
        self._memory.set(self._memory_key(), policy_id)
        if self._session.actors.find(policy_id) is None:
            self._wished = policy_id
            self._session.refresh_actors()
            return
        self._wished = ""
        self._session.choose_actor(policy_id)
        self._repaint()

    def _on_actors(self) -> None:
        if self._wished and self._session.actors.find(self._wished) is not None:
            self._choose(self._wished)
        self._choose_for_worker()
        self._repaint()

    def _memory_key(self) -> str:
        return "/".join((_KEY, *self._of))

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

    def _repaint(self) -> None:
        if self._policies:
            self.dataChanged.emit(self.index(0), self.index(len(self._policies) - 1))
        self.changed.emit()


def _in_short(step: int) -> str:
    """`3,584`, `18.4 k`: a row of a narrow dock has room for little more."""
    return f"{step:,}" if step < _WHOLE_BELOW else run_text.amount(step)


def age(seconds: float) -> str:
    """`just now`, `3 min ago`, `2 days ago`."""
    if seconds < _FEW_S:
        return "just now"
    if seconds < _HOUR_S:
        return f"{max(1, round(seconds / _MINUTE_S))} min ago"
    if seconds < _DAY_S:
        return f"{round(seconds / _HOUR_S)} h ago"
    days = round(seconds / _DAY_S)
    return f"{days} day{'s' if days > 1 else ''} ago"
