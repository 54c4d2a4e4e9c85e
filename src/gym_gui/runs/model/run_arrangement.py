"""RunArrangement: which runs are listed, in which order, under which headings.

Rows are a plain list that is put in order as a whole: with ten thousand runs that takes a few
milliseconds. Whatever does not change between two looks (texts to search, keys to sort by) is kept.
Owned by `RunsTable`.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from gym_gui.runs.model import runs_columns
from gym_gui.runs.model.run_groups import WAYS, Group, Grouping
from gym_gui.runs.model.run_search import RunSearch, haystack_of
from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runtime.models.runs_model import RunsModel
from mosaic.contract.runs import RunRecord

Row = tuple[str, str]
"""The key of a group and the id of a run; an empty id is the heading of the group."""

_MANY = 500
"""Of so many runs that are new, it is not asked one by one what that changes."""


@dataclass(frozen=True, slots=True)
class GroupHeading:
    """`count` is that of its runs, also while it is folded."""

    title: str
    count: int
    is_open: bool


class RunArrangement:
    """Whoever changes what is wished calls `arrange` then."""

    def __init__(self, runs: RunsModel) -> None:
        self.shows_archived = False
        self.hidden: frozenset[str] = frozenset()
        """Left out whatever else holds."""
        self.run_count = 0
        """How many runs match, those under folded headings too."""
        self.known_count = 0
        """How many would match an empty search."""
        self.archived_count = 0
        """How many are left out because they are archived."""
        self.headings: dict[str, GroupHeading] = {}
        self.grouping: Grouping = "none"
        self.column = RunColumn.RUN
        self.is_descending = True
        self._runs = runs
        self._search = RunSearch()
        self._folded: set[tuple[Grouping, str]] = set()
        self._haystacks: dict[str, str] = {}
        self._keys: dict[str, Any] = {}
        """Numbers or texts, by the column."""
        self._groups: dict[str, tuple[Group, ...]] = {}

    def look_for(self, text: str) -> None:
        self._search = RunSearch(text)

    def group_by(self, grouping: Grouping) -> None:
        self.grouping = grouping
        self._groups.clear()

    def sort_by(self, column: RunColumn, *, is_descending: bool) -> None:
        self.column, self.is_descending = column, is_descending
        self._keys.clear()

    def fold(self, keys: Collection[str], *, folds: bool) -> None:
        marks = {(self.grouping, key) for key in keys}
        self._folded = self._folded | marks if folds else self._folded - marks

    def rows_of(self, run_id: str) -> list[Row]:
        """Under each of its groups; none where it is not listed."""
        return [(group.key, run_id) for group in self._groups.get(run_id, ())]

    def note(self, run_ids: Collection[str]) -> bool:
        """Something about these is new. Whether that changes which rows there are, or where."""
        if len(run_ids) > _MANY:
            for kept in (self._haystacks, self._keys, self._groups):
                kept.clear()
            return True
        is_other = False
        key_of = runs_columns.sort_key(self.column, is_descending=self.is_descending)
        for run_id in run_ids:
            self._haystacks.pop(run_id, None)
            key, groups = self._keys.pop(run_id, None), self._groups.pop(run_id, None)
            run = self._runs.by_id(run_id)
            if run is None or not self._is_wanted(run):
                is_other |= groups is not None
            else:
                self._keys[run_id] = key_of(run)
                self._groups[run_id] = WAYS[self.grouping].groups_of(run)
                is_other |= key != self._keys[run_id] or groups != self._groups[run_id]
        return is_other

    def arrange(self) -> list[Row]:
        there = [run for run in self._runs.runs if run.run_id not in self.hidden]
        listed = [run for run in there if self.shows_archived or not run.archived]
        self.known_count, self.archived_count = len(listed), len(there) - len(listed)
        wanted = listed if self._search.is_empty else list(filter(self._is_wanted, listed))
        self.run_count = len(wanted)
        # Sorting keeps the order of equals: of these, the newest is first.
        wanted.sort(key=attrgetter("created_at"), reverse=True)
        key_of = runs_columns.sort_key(self.column, is_descending=self.is_descending)
        known = self._keys
        self._keys = {
            run.run_id: known[run.run_id] if run.run_id in known else key_of(run) for run in wanted
        }
        run_ids = sorted(self._keys, key=self._keys.__getitem__, reverse=self.is_descending)
        groups_of, grouped = WAYS[self.grouping].groups_of, self._groups
        self._groups = {
            run.run_id: grouped[run.run_id] if run.run_id in grouped else groups_of(run)
            for run in wanted
        }
        return self._under_headings(run_ids)

    def _under_headings(self, run_ids: list[str]) -> list[Row]:
        self.headings = {}
        if self.grouping == "none":
            return [("", run_id) for run_id in run_ids]
        members: defaultdict[Group, list[str]] = defaultdict(list)
        for run_id in run_ids:
            for group in self._groups[run_id]:
                members[group].append(run_id)
        rows: list[Row] = []
        for group in sorted(members):
            is_open = (self.grouping, group.key) not in self._folded
            self.headings[group.key] = GroupHeading(group.title, len(members[group]), is_open)
            rows.append((group.key, ""))
            if is_open:
                rows += [(group.key, run_id) for run_id in members[group]]
        return rows

    def _is_wanted(self, run: RunRecord) -> bool:
        if run.run_id in self.hidden or (run.archived and not self.shows_archived):
            return False
        if self._search.is_empty:
            return True
        haystack = self._haystacks.get(run.run_id)
        if haystack is None:
            haystack = self._haystacks[run.run_id] = haystack_of(run)
        return self._search.matches(run, haystack)
