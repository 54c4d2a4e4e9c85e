"""TrainingCatalog: the agents that can be trained, worker and algorithm, judged for an environment.

A list for the combo of the training dock. An agent that does not fit stays in it, disabled, with
its reason. Owned by `TrainingModel`.
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

_ASK_AGAIN_MS = 3_000


@dataclass(frozen=True, slots=True)
class Agent:
    """One line of the combo."""

    worker: CatalogWorker
    algorithm: Algorithm | None
    reason: str = ""
    """Why it cannot be trained here; empty when it can."""
    is_made_for: bool = False
    """It has settings of its own for the environment's family."""

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
        said = self.worker.descriptor.summary if self.worker.descriptor else ""
        return (self.algorithm.doc if self.algorithm else "") or said

    @property
    def can_play(self) -> bool:
        """Whether its worker lets act what it has learned."""
        worker = self.descriptor
        return worker is not None and "play" in worker.modes and worker.supports.policy_load

    @property
    def descriptor(self) -> WorkerDescriptor | None:
        return self.worker.descriptor


class TrainingCatalog(QAbstractListModel):
    """Those that fit come first. All of it is for the UI thread; asking the daemon is not."""

    loaded = Signal()
    """The catalog is new, or it is known why there is none."""

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
        """Ask anew; what is known stays until the answer."""
        if self._link.has_client:
            client = self._link.client
            self._tasks.run(self, lambda: fetch_catalog(client), self._take, self._fail)

    def look_at(self, env_id: str) -> None:
        if env_id != self._env_id:
            self._env_id = env_id
            self._judge()

    def find(self, agent_id: str) -> Agent | None:
        return next((agent for agent in self._agents if agent.id == agent_id), None)

    def agent_at(self, row: int) -> Agent | None:
        return self._agents[row] if 0 <= row < len(self._agents) else None

    def row_of(self, agent_id: str) -> int:
        return next((row for row, each in enumerate(self._agents) if each.id == agent_id), -1)

    def to_begin_with(self, like: str = "") -> Agent | None:
        """One that fits: of the kind of `like` when there is one, such as PPO for PPO."""
        able = [agent for agent in self._agents if not agent.reason]
        kind = like.rpartition("/")[2].partition("_")[0] or "ppo"
        return min(
            able,
            key=lambda agent: (
                not agent.is_made_for,
                not agent.worker.info.ready,
                not (agent.algorithm and agent.algorithm.id.partition("_")[0] == kind),
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

    def _take(self, catalog: Catalog) -> None:
        is_news = catalog != self.catalog or not self.is_known or self.problem is not None
        self.is_known, self.problem = True, None
        if is_news:
            self.catalog = catalog
            self._judge()
            self.loaded.emit()

    def _fail(self, error: UserError) -> None:
        self.problem = error
        self.loaded.emit()
        QTimer.singleShot(_ASK_AGAIN_MS, self, self._ask_again)

    def _ask_again(self) -> None:
        """A daemon that is busy with something else answers later."""
        if self.problem is not None and self._link.is_ready:
            self.refresh()

    def _judge(self) -> None:
        entry = environment(self._env_id) if self._env_id else None
        agents = [
            _judged(worker, algorithm, entry)
            for worker in self.catalog.workers
            for algorithm in (worker.descriptor.algorithms if worker.descriptor else (None,))
        ]
        agents.sort(key=lambda agent: (bool(agent.reason), not agent.is_made_for))
        self.beginResetModel()
        self._agents = tuple(agents)
        self.endResetModel()


def _judged(
    worker: CatalogWorker, algorithm: Algorithm | None, entry: EnvironmentEntry | None
) -> Agent:
    if worker.descriptor is None or algorithm is None:
        return Agent(worker, algorithm, worker.problem)
    if entry is None:
        return Agent(worker, algorithm)
    made_for = entry.family in algorithm.recommended
    return Agent(worker, algorithm, _misfit(worker.descriptor, algorithm, entry), made_for)


def _misfit(worker: WorkerDescriptor, algorithm: Algorithm, entry: EnvironmentEntry) -> str:
    where = worker.environments
    if not where.any and entry.family not in where.families and entry.env_id not in where.ids:
        return f"{worker.label or worker.worker} does not know {entry.env_id}."
    if algorithm.families and not entry.is_generated and entry.family not in algorithm.families:
        return f"Made for {' and '.join(algorithm.families)}; {entry.env_id} is {entry.family}."
    wanted = _SPACES.get(entry.action_kind)
    if wanted and algorithm.action_spaces and wanted not in algorithm.action_spaces:
        chooses = "discrete" if "discrete" in algorithm.action_spaces else "continuous"
        return f"Chooses {chooses} actions; those of {entry.env_id} are {entry.action_kind}."
    return ""
