"""RunArrangement: which runs are listed, in which order, under which headings.

Rows are a plain list that is sorted completely on each change; ten thousand runs take a few
milliseconds. Search texts, sort keys and groups are cached per run. Owned by `RunsTable`.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from gym_gui.runs.model import runs_columns
from gym_gui.runs.model.run_groups import GROUPINGS, Group, Grouping
from gym_gui.runs.model.run_search import RunSearch, haystack_of
from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runtime.models.runs_model import RunsModel
from mosaic.contract.runs import RunRecord

Row = tuple[str, str]
"""The key of a group and the id of a run; an empty id is the heading of the group."""

_MAX_SINGLE_UPDATES = 500
"""If more runs change at once, all cached values are dropped."""


@dataclass(frozen=True, slots=True)
class GroupHeading:
    """`count` includes the runs of a collapsed group."""

    title: str
    count: int
    is_expanded: bool


class RunArrangement:
    """Callers call `arrange` after each change of the filter, order or grouping."""

    def __init__(self, runs: RunsModel) -> None:
        self.shows_archived = False
        self.hidden: frozenset[str] = frozenset()
        """Never listed, whatever the filter."""
        self.run_count = 0
        """Number of matching runs, including those in collapsed groups."""
        self.known_count = 0
        """Number of runs that match an empty search."""
        self.archived_count = 0
        """Number of runs that are not listed because they are archived."""
        self.headings: dict[str, GroupHeading] = {}
        self.grouping: Grouping = "none"
        self.column = RunColumn.RUN
        self.is_descending = True
        self._runs = runs
        self._search = RunSearch()
        self._collapsed: set[tuple[Grouping, str]] = set()
        self._haystacks: dict[str, str] = {}
        self._keys: dict[str, Any] = {}
        """Sort keys: numbers or texts, depending on the column."""
        self._groups: dict[str, tuple[Group, ...]] = {}

    def set_filter(self, text: str) -> None:
        self._search = RunSearch(text)

    def group_by(self, grouping: Grouping) -> None:
        self.grouping = grouping
        self._groups.clear()

    def sort_by(self, column: RunColumn, *, is_descending: bool) -> None:
        self.column, self.is_descending = column, is_descending
        self._keys.clear()

    def set_collapsed(self, keys: Collection[str], is_collapsed: bool) -> None:
        groups = {(self.grouping, key) for key in keys}
        self._collapsed = self._collapsed | groups if is_collapsed else self._collapsed - groups

    def rows_of(self, run_id: str) -> list[Row]:
        """One row per group of the run; empty if it is not listed."""
        return [(group.key, run_id) for group in self._groups.get(run_id, ())]

    def update(self, run_ids: Collection[str]) -> bool:
        """Refresh the cached values of these runs; return whether rows must be rearranged."""
        if len(run_ids) > _MAX_SINGLE_UPDATES:
            for cache in (self._haystacks, self._keys, self._groups):
                cache.clear()
            return True
        is_changed = False
        key_of = runs_columns.sort_key(self.column, is_descending=self.is_descending)
        for run_id in run_ids:
            self._haystacks.pop(run_id, None)
            key, groups = self._keys.pop(run_id, None), self._groups.pop(run_id, None)
            run = self._runs.by_id(run_id)
            if run is None or not self._matches(run):
                is_changed |= groups is not None
            else:
                self._keys[run_id] = key_of(run)
                self._groups[run_id] = GROUPINGS[self.grouping].groups_of(run)
                is_changed |= key != self._keys[run_id] or groups != self._groups[run_id]
        return is_changed

    def arrange(self) -> list[Row]:
        visible = [run for run in self._runs.runs if run.run_id not in self.hidden]
        listed = [run for run in visible if self.shows_archived or not run.archived]
        self.known_count, self.archived_count = len(listed), len(visible) - len(listed)
        matching = listed if self._search.is_empty else list(filter(self._matches, listed))
        self.run_count = len(matching)
        # The sort below is stable, so runs with equal keys stay newest first.
        matching.sort(key=attrgetter("created_at"), reverse=True)
        key_of = runs_columns.sort_key(self.column, is_descending=self.is_descending)
        cached = self._keys
        self._keys = {
            run.run_id: cached[run.run_id] if run.run_id in cached else key_of(run)
            for run in matching
        }
        run_ids = sorted(self._keys, key=self._keys.__getitem__, reverse=self.is_descending)
        groups_of, cached_groups = GROUPINGS[self.grouping].groups_of, self._groups
        self._groups = {
            run.run_id: cached_groups[run.run_id] if run.run_id in cached_groups else groups_of(run)
            for run in matching
        }
        return self._rows_by_group(run_ids)

    def _rows_by_group(self, run_ids: list[str]) -> list[Row]:
        self.headings = {}
        if self.grouping == "none":
            return [("", run_id) for run_id in run_ids]
        members: defaultdict[Group, list[str]] = defaultdict(list)
        for run_id in run_ids:
            for group in self._groups[run_id]:
                members[group].append(run_id)
        rows: list[Row] = []
        for group in sorted(members):
            is_expanded = (self.grouping, group.key) not in self._collapsed
            self.headings[group.key] = GroupHeading(group.title, len(members[group]), is_expanded)
            rows.append((group.key, ""))
            if is_expanded:
                rows += [(group.key, run_id) for run_id in members[group]]
        return rows

    def _matches(self, run: RunRecord) -> bool:
        if run.run_id in self.hidden or (run.archived and not self.shows_archived):
            return False
        if self._search.is_empty:
            return True
        haystack = self._haystacks.get(run.run_id)
        if haystack is None:
            haystack = self._haystacks[run.run_id] = haystack_of(run)
        return self._search.matches(run, haystack)
