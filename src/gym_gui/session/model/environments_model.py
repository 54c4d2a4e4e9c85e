"""EnvironmentsModel: the rows of the environment picker, filtered by family and search text.

Each row is an `EnvironmentRow`. Installed packages come from the daemon's bundles, thumbnails from
`session.feed.thumbnail_cache`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import BundleInfo
from mosaic.envs import catalog
from mosaic.envs.entries import BUNDLE, Family

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
RECENT = "recent"

_INSTALLS_FIRST = "Required packages will be installed first."

RowKind = Literal["heading", "environment", "typed"]


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """One line of the list: a heading, an environment, or an id that was typed in."""

    kind: RowKind
    title: str
    env_id: str = ""
    summary: str = ""
    family: str = ""
    needs: str = ""
    """What must be installed before it can be played; empty: nothing."""

    @property
    def accessible_text(self) -> str:
        """For screen readers."""
        return ", ".join(
            part for part in (self.title, self.env_id, self.summary, self.needs) if part
        )


@dataclass(frozen=True, slots=True)
class FamilyChoice:
    """One entry of the picker's list of families."""

    id: str
    """Empty: all."""
    title: str
    count: int
    summary: str = ""


class EnvironmentsModel(QAbstractListModel):
    """Created by `SessionPanelModel`. UI thread only."""

    thumbnail_arrived = Signal(str)

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        thumbnails: ThumbnailCache,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._thumbnails = thumbnails
        self._text = ""
        self._family = ""
        self._recent: tuple[str, ...] = ()
        self._installed: frozenset[tuple[str, ...]] | None = None
        """The extras of each ready bundle; None: not known yet."""
        self._missing: frozenset[str] = frozenset()
        """Bundles that are not installed."""
        self._rows: list[EnvironmentRow] = []
        self._listed = {entry.env_id: entry for entry in catalog.environments()}
        self._families = {family.id: family for family in catalog.families()}
        self._matches = catalog.search("")
        self._fill()
        thumbnails.arrived.connect(self.thumbnail_arrived)
        link.connected.connect(self.refresh_bundles)
        if link.has_client:
            self.refresh_bundles()

    # Rows and filters.

    def families(self) -> tuple[FamilyChoice, ...]:
        """In display order, each with its number of matches."""
        matches = self._matches
        counts = Counter(entry.family for entry in matches)
        recent = FamilyChoice(RECENT, "Recent", len(self._recent), "Recently played environments.")
        return (
            FamilyChoice("", "All", len(matches), "All environments of the catalog."),
            *((recent,) if self._recent else ()),
            *(
                FamilyChoice(family.id, family.title, counts[family.id], family.summary)
                for family in self._families.values()
            ),
        )

    @property
    def family(self) -> str:
        return self._family

    @property
    def text(self) -> str:
        return self._text

    def search(self, text: str) -> None:
        if text.strip() != self._text:
            self._text = text.strip()
            self._matches = catalog.search(self._text)
            self._refill()

    def show_family(self, family_id: str) -> None:
        """Empty: all families; `RECENT`: recently played environments."""
        if family_id != self._family:
            self._family = family_id
            self._refill()

    def set_recent(self, env_ids: tuple[str, ...]) -> None:
        if env_ids != self._recent:
            self._recent = env_ids
            self._refill()

    def needs(self, env_id: str, worker: str = BUNDLE) -> str:
        """What must be installed before playing it; empty: nothing, or not known yet.

        `worker` is the worker whose process runs the actor.
        """
        if worker != BUNDLE:
            return _INSTALLS_FIRST if worker in self._missing else ""
        return self._needs(catalog.family(catalog.environment(env_id).family))

    def row_at(self, index: QModelIndex | QPersistentModelIndex) -> EnvironmentRow | None:
        return self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None

    def index_of(self, env_id: str) -> QModelIndex:
        """Invalid if the environment is not listed."""
        for number, row in enumerate(self._rows):
            if row.env_id == env_id:
                return self.index(number)
        return QModelIndex()

    def first_environment(self) -> QModelIndex:
        for number, row in enumerate(self._rows):
            if row.kind != "heading":
                return self.index(number)
        return QModelIndex()

    # Thumbnails.

    def png(self, env_id: str) -> bytes | None:
        return self._thumbnails.png(env_id)

    def request_thumbnails(self, env_ids: Iterable[str]) -> None:
        """Fetch the thumbnails of these visible environments."""
        self._thumbnails.request(env_ids)

    # QAbstractListModel.

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:  # noqa: N802 - Qt's name
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        row = self.row_at(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.accessible_text
        if role == Qt.ItemDataRole.ToolTipRole and row.needs:
            return f"{row.summary}\n{row.needs}"
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        row = self.row_at(index)
        if row is None or row.kind == "heading":
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    # Installed packages.

    def refresh_bundles(self) -> None:
        """Query the installed bundles."""
        if self._link.has_client:
            client = self._link.client
            self._tasks.run(self, client.bundles, self._on_bundles, self._ignore)

    def _on_bundles(self, bundles: list[BundleInfo]) -> None:
        installed = frozenset(
            bundle.extras for bundle in bundles if bundle.name == BUNDLE and bundle.state == "ready"
        )
        ready = {bundle.name for bundle in bundles if bundle.state == "ready"}
        missing = frozenset(bundle.name for bundle in bundles) - ready
        if (installed, missing) == (self._installed, self._missing):
            return
        self._missing = missing
        if self._installed is not None:
            self._thumbnails.try_again()
        self._installed = installed
        self._refill()

    def _ignore(self, _error: UserError) -> None:
        """Install marks are only a hint; the window reports a lost daemon."""

    def _needs(self, family: Family) -> str:
        if self._installed is None:
            return ""
        if not self._installed:
            return _INSTALLS_FIRST
        if family.extra and not any(family.extra in extras for extras in self._installed):
            return f"Needs the extra {family.extra}, which will be installed first."
        return ""

    # The rows.

    def _refill(self) -> None:
        self.beginResetModel()
        self._fill()
        self.endResetModel()

    def _fill(self) -> None:
        rows: list[EnvironmentRow] = []
        if self._family == RECENT:
            rows += [self._environment_row(env_id) for env_id in self._recent_matches()]
        else:
            if self._recent and not self._family and not self._text:
                rows.append(EnvironmentRow("heading", "Recent", family=RECENT))
                rows += [self._environment_row(env_id) for env_id in self._recent]
            for family in self._families.values():
                ids = [entry.env_id for entry in self._matches if entry.family == family.id]
                if ids and self._family in ("", family.id):
                    rows.append(EnvironmentRow("heading", family.title, family=family.id))
                    rows += [self._environment_row(env_id) for env_id in ids]
        if self._is_unlisted_id():
            typed = f"Use {self._text}"
            summary = "Any id registered with Gymnasium, or module:Id."
            rows.append(EnvironmentRow("typed", typed, self._text, summary, "other"))
        self._rows = rows

    def _recent_matches(self) -> list[str]:
        matches = {entry.env_id for entry in self._matches}
        return [env_id for env_id in self._recent if not self._text or env_id in matches]

    def _is_unlisted_id(self) -> bool:
        """Whether the search text may be an id that the catalog does not list."""
        return bool(self._text) and " " not in self._text and self._text not in self._listed

    def _environment_row(self, env_id: str) -> EnvironmentRow:
        entry = self._listed.get(env_id) or catalog.environment(env_id)
        needs = self._needs(self._families.get(entry.family, catalog.OTHER))
        return EnvironmentRow(
            "environment", entry.title, env_id, entry.summary, entry.family, needs
        )
