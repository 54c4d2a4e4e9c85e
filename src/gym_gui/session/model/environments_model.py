"""EnvironmentsModel: the rows of the environment picker, by family or by what is searched for.

Each row is an `EnvironmentRow`; whether its packages are there comes from the daemon's bundles,
and pictures from `session.feed.environment_pictures`, through here because views know no services.
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
from gym_gui.session.feed.environment_pictures import EnvironmentPictures
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import BundleInfo
from mosaic.envs import catalog
from mosaic.envs.entries import BUNDLE, Family

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
RECENT = "recent"

_INSTALLS_FIRST = "Playing it installs its packages first."

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
    """What is installed when it is played; empty when all is there."""

    @property
    def spoken(self) -> str:
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
    """Made by `SessionPanelModel`; all of it is for the UI thread."""

    picture_arrived = Signal(str)

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pictures: EnvironmentPictures,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._pictures = pictures
        self._text = ""
        self._family = ""
        self._recent: tuple[str, ...] = ()
        self._installed: frozenset[tuple[str, ...]] | None = None
        """The extras of each bundle that is ready; None while nobody has said."""
        self._missing: frozenset[str] = frozenset()
        """Bundles of which nothing is installed."""
        self._rows: list[EnvironmentRow] = []
        self._listed = {entry.env_id: entry for entry in catalog.environments()}
        self._families = {family.id: family for family in catalog.families()}
        self._found = catalog.search("")
        self._fill()
        pictures.arrived.connect(self.picture_arrived)
        link.connected.connect(self.look_at_bundles)
        if link.has_client:
            self.look_at_bundles()

    # What is shown.

    def families(self) -> tuple[FamilyChoice, ...]:
        """In the order in which they are shown, with how many match what is searched for."""
        found = self._found
        counts = Counter(entry.family for entry in found)
        recent = FamilyChoice(RECENT, "Recent", len(self._recent), "What you played last.")
        return (
            FamilyChoice("", "All", len(found), "Every environment of the catalog."),
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
            self._found = catalog.search(self._text)
            self._refill()

    def show_family(self, family_id: str) -> None:
        """Empty: all of them; `RECENT`: those played last."""
        if family_id != self._family:
            self._family = family_id
            self._refill()

    def set_recent(self, env_ids: tuple[str, ...]) -> None:
        if env_ids != self._recent:
            self._recent = env_ids
            self._refill()

    def needs(self, env_id: str, worker: str = BUNDLE) -> str:
        """What playing it installs first, in words; empty when nothing is missing or known.

        `worker` is the one in whose process somebody acts there.
        """
        if worker != BUNDLE:
            return _INSTALLS_FIRST if worker in self._missing else ""
        return self._needs(catalog.family(catalog.environment(env_id).family))

    def row_at(self, index: QModelIndex | QPersistentModelIndex) -> EnvironmentRow | None:
        return self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None

    def index_of(self, env_id: str) -> QModelIndex:
        """Where it is; not valid when it is not shown."""
        for at, row in enumerate(self._rows):
            if row.env_id == env_id:
                return self.index(at)
        return QModelIndex()

    def first_environment(self) -> QModelIndex:
        for at, row in enumerate(self._rows):
            if row.kind != "heading":
                return self.index(at)
        return QModelIndex()

    # Pictures.

    def png(self, env_id: str) -> bytes | None:
        return self._pictures.png(env_id)

    def want_pictures(self, env_ids: Iterable[str]) -> None:
        """These are in sight."""
        self._pictures.want(env_ids)

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
            return row.spoken
        if role == Qt.ItemDataRole.ToolTipRole and row.needs:
            return f"{row.summary}\n{row.needs}"
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        row = self.row_at(index)
        if row is None or row.kind == "heading":
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    # What is installed.

    def look_at_bundles(self) -> None:
        """Ask what is installed; before that, nothing is said about it."""
        if self._link.has_client:
            client = self._link.client
            self._tasks.run(self, client.bundles, self._take_bundles, self._ignore)

    def _take_bundles(self, bundles: list[BundleInfo]) -> None:
        installed = frozenset(
            bundle.extras for bundle in bundles if bundle.name == BUNDLE and bundle.state == "ready"
        )
        ready = {bundle.name for bundle in bundles if bundle.state == "ready"}
        missing = frozenset(bundle.name for bundle in bundles) - ready
        if (installed, missing) == (self._installed, self._missing):
            return
        self._missing = missing
        if self._installed is not None:
            self._pictures.try_again()
        self._installed = installed
        self._refill()

    def _ignore(self, _error: UserError) -> None:
        """Marks of what is installed are only a hint, and the window says that a daemon is lost."""

    def _needs(self, family: Family) -> str:
        if self._installed is None:
            return ""
        if not self._installed:
            return _INSTALLS_FIRST
        if family.extra and not any(family.extra in extras for extras in self._installed):
            return f"Needs the extra {family.extra}; playing it installs that first."
        return ""

    # The rows.

    def _refill(self) -> None:
        self.beginResetModel()
        self._fill()
        self.endResetModel()

    def _fill(self) -> None:
        rows: list[EnvironmentRow] = []
        if self._family == RECENT:
            rows += [self._environment_row(env_id) for env_id in self._recent_found()]
        else:
            if self._recent and not self._family and not self._text:
                rows.append(EnvironmentRow("heading", "Recent", family=RECENT))
                rows += [self._environment_row(env_id) for env_id in self._recent]
            for family in self._families.values():
                ids = [entry.env_id for entry in self._found if entry.family == family.id]
                if ids and self._family in ("", family.id):
                    rows.append(EnvironmentRow("heading", family.title, family=family.id))
                    rows += [self._environment_row(env_id) for env_id in ids]
        if self._is_another_id():
            typed = f"Use {self._text}"
            summary = "Any id that gymnasium knows, or module:Id."
            rows.append(EnvironmentRow("typed", typed, self._text, summary, "other"))
        self._rows = rows

    def _recent_found(self) -> list[str]:
        found = {entry.env_id for entry in self._found}
        return [env_id for env_id in self._recent if not self._text or env_id in found]

    def _is_another_id(self) -> bool:
        """Whether what is searched for may be meant as an id that the catalog does not list."""
        return bool(self._text) and " " not in self._text and self._text not in self._listed

    def _environment_row(self, env_id: str) -> EnvironmentRow:
        entry = self._listed.get(env_id) or catalog.environment(env_id)
        needs = self._needs(self._families.get(entry.family, catalog.OTHER))
        return EnvironmentRow(
            "environment", entry.title, env_id, entry.summary, entry.family, needs
        )
