"""TrainingCatalog: list model of the agents (worker and algorithm) for the selected environment.

Shown by the combo box of the training dock. An incompatible agent is listed, disabled, with its
reason. Owned by `TrainingModel`.
"""

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.training.feed.worker_catalog import Catalog, CatalogWorker, fetch_catalog
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.envs.catalog import environment
from mosaic.envs.entries import EnvironmentEntry

AGENT_ROLE = int(Qt.ItemDataRole.UserRole)
_SPACES = {"discrete": "discrete", "continuous": "box"}

_RETRY_MS = 3_000


@dataclass(frozen=True, slots=True)
class Agent:
    """One row of the combo box."""

    worker: CatalogWorker
    algorithm: Algorithm | None
    reason: str = ""
    """Why it cannot be trained in the environment; empty: it can."""
    is_recommended: bool = False
    """It has recommended parameters for the family of the environment."""

    @property
    def id(self) -> str:
        return f"{self.worker.id}/{self.algorithm.id if self.algorithm else ''}"

    @property
    def label(self) -> str:
        if self.algorithm is None:
            return self.worker.label
        return f"{self.worker.label} · {self.algorithm.label or self.algorithm.id}"

    @property
    def summary(self) -> str:
        summary = self.worker.descriptor.summary if self.worker.descriptor else ""
        return (self.algorithm.doc if self.algorithm else "") or summary

    @property
    def can_play(self) -> bool:
        """Whether its worker can play saved policies."""
        worker = self.descriptor
        return worker is not None and "play" in worker.modes and worker.supports.policy_load

    @property
    def descriptor(self) -> WorkerDescriptor | None:
        return self.worker.descriptor


class TrainingCatalog(QAbstractListModel):
    """Compatible agents come first. UI thread only; the daemon is queried on a thread."""

    loaded = Signal()
    """The catalog was updated, or could not be fetched."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self.catalog = Catalog()
        self.is_known = False
        self.problem: UserError | None = None
        self._agents: tuple[Agent, ...] = ()
        self._env_id = ""
        link.connected.connect(self.refresh)
        link.recovered.connect(self.refresh)
        if link.has_client:
            self.refresh()

    @property
    def agents(self) -> tuple[Agent, ...]:
        return self._agents

    def refresh(self) -> None:
        """Fetch the catalog again; the current one stays until then."""
        if self._link.has_client:
            client = self._link.client
            self._tasks.run(self, lambda: fetch_catalog(client), self._on_catalog, self._on_failure)

    def set_environment(self, env_id: str) -> None:
        if env_id != self._env_id:
            self._env_id = env_id
            self._update_agents()

    def find(self, agent_id: str) -> Agent | None:
        return next((agent for agent in self._agents if agent.id == agent_id), None)

    def agent_at(self, row: int) -> Agent | None:
        return self._agents[row] if 0 <= row < len(self._agents) else None

    def row_of(self, agent_id: str) -> int:
        """-1 if it is not listed."""
        rows = (row for row, agent in enumerate(self._agents) if agent.id == agent_id)
        return next(rows, -1)

    def default_agent(self, like: str = "") -> Agent | None:
        """A compatible agent, preferably with the same base algorithm as `like`, such as PPO."""
        compatible = [agent for agent in self._agents if not agent.reason]
        algorithm = like.rpartition("/")[2].partition("_")[0] or "ppo"
        return min(
            compatible,
            key=lambda agent: (
                not agent.is_recommended,
                not agent.worker.info.ready,
                not (agent.algorithm and agent.algorithm.id.partition("_")[0] == algorithm),
            ),
            default=None,
        )

    # QAbstractListModel.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self._agents)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        agent = self.agent_at(index.row())
        if agent is None:
            return None
        if role == AGENT_ROLE:
            return agent
        if role == Qt.ItemDataRole.DisplayRole:
            return agent.label
        if role == Qt.ItemDataRole.ToolTipRole:
            return agent.reason or agent.summary
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{agent.label}, {agent.reason or agent.summary}"
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        agent = self.agent_at(index.row())
        if agent is None or agent.reason:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def _on_catalog(self, catalog: Catalog) -> None:
        is_changed = catalog != self.catalog or not self.is_known or self.problem is not None
        self.is_known, self.problem = True, None
        if is_changed:
            self.catalog = catalog
            self._update_agents()
            self.loaded.emit()

    def _on_failure(self, error: UserError) -> None:
        self.problem = error
        self.loaded.emit()
        QTimer.singleShot(_RETRY_MS, self, self._retry)

    def _retry(self) -> None:
        """A busy daemon may answer later."""
        if self.problem is not None and self._link.is_ready:
            self.refresh()

    def _update_agents(self) -> None:
        entry = environment(self._env_id) if self._env_id else None
        agents = [
            _agent(worker, algorithm, entry)
            for worker in self.catalog.workers
            for algorithm in (worker.descriptor.algorithms if worker.descriptor else (None,))
        ]
        agents.sort(key=lambda agent: (bool(agent.reason), not agent.is_recommended))
        self.beginResetModel()
        self._agents = tuple(agents)
        self.endResetModel()


def _agent(
    worker: CatalogWorker, algorithm: Algorithm | None, entry: EnvironmentEntry | None
) -> Agent:
    if worker.descriptor is None or algorithm is None:
        return Agent(worker, algorithm, worker.problem)
    if entry is None:
        return Agent(worker, algorithm)
    reason = _incompatibility(worker.descriptor, algorithm, entry)
    return Agent(worker, algorithm, reason, entry.family in algorithm.recommended)


def _incompatibility(
    worker: WorkerDescriptor, algorithm: Algorithm, entry: EnvironmentEntry
) -> str:
    supported = worker.environments
    is_listed = entry.family in supported.families or entry.env_id in supported.ids
    if not supported.any and not is_listed:
        return f"{worker.label or worker.worker} does not support {entry.env_id}."
    if algorithm.families and not entry.is_generated and entry.family not in algorithm.families:
        families = " and ".join(algorithm.families)
        return f"Supports {families} only; {entry.env_id} is {entry.family}."
    space = _SPACES.get(entry.action_kind)
    if space and algorithm.action_spaces and space not in algorithm.action_spaces:
        kind = "discrete" if "discrete" in algorithm.action_spaces else "continuous"
        return f"Supports {kind} actions only; {entry.env_id} has {entry.action_kind} ones."
    return ""
