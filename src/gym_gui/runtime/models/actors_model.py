"""ActorsModel: the roster of those who can act in the chosen environment, with their readiness.

Owned by `SessionPanelModel`; the actor combo shows it. An actor that cannot act stays in the list,
disabled, with its reason.
"""

from typing import Any, Literal

import msgspec
from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.runtime.actors import HUMAN, ActorDescriptor, ActorRoster
from mosaic.contract.errors import UserError

__all__ = ["ACTOR_ROLE", "HUMAN", "ActorDescriptor", "ActorsModel", "Mode", "reason_of"]

ACTOR_ROLE = int(Qt.ItemDataRole.UserRole)

Mode = Literal["human", "hybrid", "agent"]


class ActorsModel(QAbstractListModel):
    """All of it is for the UI thread; asking the daemon is not."""

    loaded = Signal()
    """The roster is new, or it is known why there is none."""

    def __init__(self, roster: ActorRoster, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._roster = roster
        self._roster_actors: tuple[ActorDescriptor, ...] = ()
        self._actors: tuple[ActorDescriptor, ...] = ()
        self._mode: Mode = "human"
        self._env_id = ""
        self.is_loading = False
        self.problem: UserError | None = None

    @property
    def actors(self) -> tuple[ActorDescriptor, ...]:
        """As they are for the environment and the mode."""
        return self._actors

    def load(self, env_id: str) -> None:
        """Ask who can act there. What was known of the environment stays until the answer."""
        if env_id != self._env_id:
            self._env_id = env_id
            self._show(())
        if not self._roster.can_query:
            return
        self.is_loading = True
        self._roster.ask(
            self,
            env_id,
            lambda actors: self._on_loaded(env_id, actors),
            lambda error: self._on_failed(env_id, error),
        )

    def set_mode(self, mode: Mode) -> None:
        if mode != self._mode:
            self._mode = mode
            self._show(self._roster_actors)

    def find(self, actor_id: str) -> ActorDescriptor | None:
        return next((actor for actor in self._actors if actor.id == actor_id), None)

    def default_agent(self) -> ActorDescriptor | None:
        """The first that can act by itself: those that learned something come before chance."""
        able = [actor for actor in self._actors if actor.is_available and actor.id != HUMAN]
        learned = [actor for actor in able if actor.source != "builtin"]
        return next(iter(learned or able), None)

    def row_of(self, actor_id: str) -> int:
        """-1 when it is not in the list."""
        return next((at for at, each in enumerate(self._actors) if each.id == actor_id), -1)

    def actor_at(self, row: int) -> ActorDescriptor | None:
        return self._actors[row] if 0 <= row < len(self._actors) else None

    # QAbstractListModel.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self._actors)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        actor = self.actor_at(index.row())
        if actor is None:
            return None
        if role == ACTOR_ROLE:
            return actor
        if role == Qt.ItemDataRole.DisplayRole:
            return actor.label
        if role == Qt.ItemDataRole.ToolTipRole:
            return reason_of(actor) or actor.description
        if role == Qt.ItemDataRole.AccessibleTextRole:
            readiness = reason_of(actor) or "ready"
            return f"{actor.label}, {actor.description} {readiness}"
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        actor = self.actor_at(index.row())
        if actor is None or not actor.is_available:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    # The answer.

    def _on_loaded(self, env_id: str, actors: tuple[ActorDescriptor, ...]) -> None:
        if env_id != self._env_id:
            return  # Another environment was chosen meanwhile.
        self.is_loading = False
        self.problem = None
        if actors != self._roster_actors:
            self._show(actors)
        self.loaded.emit()

    def _on_failed(self, env_id: str, error: UserError) -> None:
        if env_id == self._env_id:
            self.is_loading = False
            self.problem = error
            self.loaded.emit()

    def _show(self, actors: tuple[ActorDescriptor, ...]) -> None:
        self.beginResetModel()
        self._roster_actors = actors
        self._actors = tuple(self._for_mode(actor) for actor in actors)
        self.endResetModel()

    def _for_mode(self, actor: ActorDescriptor) -> ActorDescriptor:
        if self._mode != "agent" or actor.id != HUMAN or not actor.is_available:
            return actor
        return msgspec.structs.replace(
            actor,
            is_available=False,
            problem="In Agent mode an agent acts.",
            remedy="Choose Human or Hybrid to act yourself.",
        )


def reason_of(actor: ActorDescriptor) -> str:
    """Why it cannot act, and what to do about it; empty when it can."""
    return "" if actor.is_available else f"{actor.problem} {actor.remedy}".strip()
