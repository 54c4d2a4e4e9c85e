"""ActorsModel: the actors for the selected environment, with their availability.

Owned by `SessionPanelModel`; shown by the actor combo box. An unavailable actor is disabled and has
a reason.
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

from gym_gui.runtime.session_service import HUMAN, ActorDescriptor, fetch_actors
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError

__all__ = ["ACTOR_ROLE", "HUMAN", "ActorDescriptor", "ActorsModel", "Mode", "reason_of"]

ACTOR_ROLE = int(Qt.ItemDataRole.UserRole)

Mode = Literal["human", "hybrid", "agent"]


class ActorsModel(QAbstractListModel):
    """UI thread only."""

    loaded = Signal()
    """The actors were fetched, or `problem` has the reason why not."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._fetched: tuple[ActorDescriptor, ...] = ()
        self._actors: tuple[ActorDescriptor, ...] = ()
        self._mode: Mode = "human"
        self._env_id = ""
        self.is_loading = False
        self.problem: UserError | None = None

    @property
    def actors(self) -> tuple[ActorDescriptor, ...]:
        """For the current environment and mode."""
        return self._actors

    def load(self, env_id: str) -> None:
        """Fetch the actors; known actors of the same environment stay until the answer arrives."""
        if env_id != self._env_id:
            self._env_id = env_id
            self._show(())
        if not self._link.has_client:
            return
        self.is_loading = True
        client = self._link.client
        self._tasks.run(
            self,
            lambda: fetch_actors(client, env_id),
            lambda actors: self._on_loaded(env_id, actors),
            lambda error: self._on_failed(env_id, error),
        )

    def set_mode(self, mode: Mode) -> None:
        if mode != self._mode:
            self._mode = mode
            self._show(self._fetched)

    def find(self, actor_id: str) -> ActorDescriptor | None:
        return next((actor for actor in self._actors if actor.id == actor_id), None)

    def default_agent(self) -> ActorDescriptor | None:
        """The first available agent; trained policies come before built-in actors."""
        available = [actor for actor in self._actors if actor.is_available and actor.id != HUMAN]
        trained = [actor for actor in available if actor.source != "builtin"]
        return next(iter(trained or available), None)

    def row_of(self, actor_id: str) -> int:
        """-1 if it is not listed."""
        return next((row for row, actor in enumerate(self._actors) if actor.id == actor_id), -1)

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

    def _on_loaded(self, env_id: str, actors: tuple[ActorDescriptor, ...]) -> None:
        if env_id != self._env_id:
            return  # another environment was selected since
        self.is_loading = False
        self.problem = None
        if actors != self._fetched:
            self._show(actors)
        self.loaded.emit()

    def _on_failed(self, env_id: str, error: UserError) -> None:
        if env_id == self._env_id:
            self.is_loading = False
            self.problem = error
            self.loaded.emit()

    def _show(self, actors: tuple[ActorDescriptor, ...]) -> None:
        self.beginResetModel()
        self._fetched = actors
        self._actors = tuple(self._for_mode(actor) for actor in actors)
        self.endResetModel()

    def _for_mode(self, actor: ActorDescriptor) -> ActorDescriptor:
        if self._mode != "agent" or actor.id != HUMAN or not actor.is_available:
            return actor
        return msgspec.structs.replace(
            actor,
            is_available=False,
            problem="Human input is disabled in Agent mode.",
            remedy="Choose Human or Hybrid to act yourself.",
        )


def reason_of(actor: ActorDescriptor) -> str:
    """Why the actor is unavailable, with the remedy; empty if it is available."""
    return "" if actor.is_available else f"{actor.problem} {actor.remedy}".strip()
