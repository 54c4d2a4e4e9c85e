"""RunActions: the actions on runs, for the runs list, the command palette and the run page.

Each is requested on a thread; the list changes when the daemon has answered. Notices offer to undo
what can be undone.
"""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.run_actions import disabled_reason
from gym_gui.runtime.models.run_deletions import UNDO_MS, RunDeletions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.run_operations import apply_to_runs
from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunRecord

_MAX_SINGLE_TASKS = 8


class RunActions(QObject):
    """Created once, by the wiring."""

    show_requested = Signal(str)
    """The path of a folder or file to show in the file manager."""

    def __init__(
        self,
        services: Services,
        runs: RunsModel,
        parent: QObject | None = None,
        *,
        undo_ms: int = UNDO_MS,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._runs = runs
        self.deletions = RunDeletions(services, runs, self, undo_ms=undo_ms)

    def can_stop(self, run: RunRecord) -> bool:
        return not disabled_reason("stop", run)

    def stop(self, run_ids: Collection[str]) -> None:
        client = self._services.link.client
        self._apply_to_runs(run_ids, partial(client.cancel, reason="stopped in the window"))

    def pause(self, run_ids: Collection[str]) -> None:
        self._apply_to_runs(run_ids, self._services.link.client.pause)

    def resume(self, run_ids: Collection[str]) -> None:
        self._apply_to_runs(run_ids, self._services.link.client.resume)

    def rename(self, run_id: str, name: str) -> None:
        client = self._services.link.client
        self._apply(run_id, lambda: client.rename(run_id, name))

    def change_tags(
        self, run_ids: Collection[str], add: Collection[str], remove: Collection[str] = ()
    ) -> None:
        """Add and remove tags of all these runs."""
        client = self._services.link.client
        added, removed = sorted(set(add)), sorted(set(remove) - set(add))
        if added or removed:
            op = partial(client.annotate, add_tags=added, remove_tags=removed)
            self._apply_to_runs(run_ids, op)

    def write_note(self, run_id: str, note: str) -> None:
        client, run = self._services.link.client, self._runs.by_id(run_id)
        if run is None or run.note != note.strip():
            self._apply(run_id, lambda: client.annotate(run_id, note=note.strip()))

    def archive(self, run_ids: Collection[str], archived: bool = True) -> None:
        """Archive or restore. Can be undone."""
        ids = tuple(run_ids)

        def done(rejected: dict[str, UserError]) -> None:
            moved = [run_id for run_id in ids if run_id not in rejected]
            if moved:
                title = self._title_of(moved)
                message = f"{title} archived." if archived else f"{title} restored."
                self._services.notices.offer(
                    message, "Undo", lambda: self.archive(moved, not archived)
                )
            self._post_first_error(rejected)

        self._services.call(
            self,
            lambda client: apply_to_runs(ids, lambda run_id: client.archive(run_id, archived)),
            done,
        )

    def delete(self, run_ids: Collection[str]) -> None:
        """Hide now, and delete ten seconds later unless undone."""
        self.deletions.delete(run_ids)

    def export(self, run_id: str) -> None:
        """Write an archive of the run to `exports` of the home."""
        client, folder = self._services.link.client, self._services.link.home.exports
        name = f"{self._title_of((run_id,))} {run_text.short_id(run_id)}"
        self._services.notices.post(f"Exporting {self._title_of((run_id,))} …")

        def write() -> tuple[Path, int]:
            file = free_target(folder, name, "tar.gz")
            return file, client.export_run(run_id, str(file))

        def done(written: tuple[Path, int]) -> None:
            file, size_bytes = written
            self._services.notices.offer(
                f"Exported to exports/{file.name} ({size_bytes / 1e6:,.1f} MB).",
                "Show",
                lambda: self.show_requested.emit(str(file.parent)),
                tone="good",
            )

        self._services.tasks.run(self, write, done, self._services.notices.post_error)

    def open_folder(self, run_id: str) -> None:
        self.show_requested.emit(str(self._services.link.home.run(run_id).path))

    def close(self) -> None:
        """Does not block. Pending deletions are executed."""
        self.deletions.close()

    def join(self, timeout_s: float) -> bool:
        return self.deletions.join(timeout_s)

    def _apply_to_runs(self, run_ids: Collection[str], op: Callable[[str], RunRecord]) -> None:
        """One task for many runs, so that others are not delayed. `RunFeed` has the results."""
        ids = tuple(run_ids)
        if len(ids) <= _MAX_SINGLE_TASKS:
            for run_id in ids:
                self._apply(run_id, partial(op, run_id))
        else:
            self._services.tasks.run(self, lambda: apply_to_runs(ids, op), self._post_first_error)

    def _post_first_error(self, rejected: dict[str, UserError]) -> None:
        """Post the first error only."""
        for error in tuple(rejected.values())[:1]:
            self._services.notices.post_error(error)

    def _apply(self, run_id: str, op: Callable[[], RunRecord]) -> None:
        known = self._runs.by_id(run_id)

        def apply_answer(answer: RunRecord) -> None:
            # A record that the stream delivered since may be newer.
            if self._runs.by_id(run_id) is known:
                self._runs.apply(answer)

        self._services.tasks.run(self, op, apply_answer, self._services.notices.post_error)

    def _title_of(self, run_ids: Collection[str]) -> str:
        if len(run_ids) != 1:
            return run_text.run_count(len(run_ids))
        (run_id,) = run_ids
        run = self._runs.by_id(run_id)
        return run_text.title_of(run) if run else f"Run {run_text.short_id(run_id)}"
