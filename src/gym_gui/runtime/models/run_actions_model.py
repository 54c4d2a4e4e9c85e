"""RunActions: what people do with runs, from the list, the palette or a page of one run.

Everything is asked of the daemon on a thread; the list changes when the daemon has answered. What
can be taken back is offered to be taken back.
"""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.many_runs import do_to_each
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.run_actions import why_not
from gym_gui.runtime.models.run_deletions import UNDO_MS, RunDeletions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunRecord

_FEW = 8


class RunActions(QObject):
    """Made once, by the wiring."""

    show_requested = Signal(str)
    """A folder or file that is to be shown by the desktop."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        notices: Notices,
        runs: RunsModel,
        parent: QObject | None = None,
        *,
        undo_ms: int = UNDO_MS,
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._runs = runs
        self.deletions = RunDeletions(link, tasks, notices, runs, self, undo_ms=undo_ms)

    def can_stop(self, run: RunRecord) -> bool:
        return not why_not("stop", run)

    def stop(self, run_ids: Collection[str]) -> None:
        client = self._link.client
        self._do_to_each(run_ids, partial(client.cancel, reason="stopped in the window"))

    def pause(self, run_ids: Collection[str]) -> None:
        self._do_to_each(run_ids, self._link.client.pause)

    def resume(self, run_ids: Collection[str]) -> None:
        self._do_to_each(run_ids, self._link.client.resume)

    def rename(self, run_id: str, name: str) -> None:
        client = self._link.client
        self._do(run_id, lambda: client.rename(run_id, name))

    def change_tags(
        self, run_ids: Collection[str], add: Collection[str], remove: Collection[str] = ()
    ) -> None:
        """On each of them; what a run has, or has not, already stays as it is."""
        client = self._link.client
        added, removed = sorted(set(add)), sorted(set(remove) - set(add))
        if added or removed:
            op = partial(client.annotate, add_tags=added, remove_tags=removed)
            self._do_to_each(run_ids, op)

    def write_note(self, run_id: str, note: str) -> None:
        client, run = self._link.client, self._runs.by_id(run_id)
        if run is None or run.note != note.strip():
            self._do(run_id, lambda: client.annotate(run_id, note=note.strip()))

    def archive(self, run_ids: Collection[str], archived: bool = True) -> None:
        """Put away, or bring back. Can be undone."""
        client, chosen = self._link.client, tuple(run_ids)

        def done(rejected: dict[str, UserError]) -> None:
            moved = [run_id for run_id in chosen if run_id not in rejected]
            if moved:
                what = self._called(moved)
                message = f"{what} archived." if archived else f"{what} brought back."
                self._notices.offer(message, "Undo", lambda: self.archive(moved, not archived))
            self._report_rejected(rejected)

        self._tasks.run(
            self, lambda: do_to_each(chosen, lambda each: client.archive(each, archived)), done
        )

    def delete(self, run_ids: Collection[str]) -> None:
        """Hide at once; delete ten seconds later unless undone."""
        self.deletions.delete(run_ids)

    def export(self, run_id: str) -> None:
        """All of it into one archive in the home's folder of exports."""
        client, folder = self._link.client, self._link.home.path / "exports"
        name = f"{self._called((run_id,))} {run_text.short_id(run_id)}"
        self._notices.post(f"Exporting {self._called((run_id,))} …")

        def write() -> tuple[Path, int]:
            file = free_target(folder, name, "tar.gz")
            return file, client.export_run(run_id, str(file))

        def done(written: tuple[Path, int]) -> None:
            file, size_bytes = written
            self._notices.offer(
                f"Exported to exports/{file.name} ({size_bytes / 1e6:,.1f} MB).",
                "Show",
                lambda: self.show_requested.emit(str(file.parent)),
                tone="good",
            )

        self._tasks.run(self, write, done, self._notices.fail)

    def open_folder(self, run_id: str) -> None:
        self.show_requested.emit(str(self._link.home.run(run_id).path))

    def close(self) -> None:
        """Does not wait. Deletions that could still have been undone are carried out."""
        self.deletions.close()

    def join(self, timeout_s: float) -> bool:
        return self.deletions.join(timeout_s)

    def _do_to_each(self, run_ids: Collection[str], op: Callable[[str], RunRecord]) -> None:
        """Of many runs one task: answers come by the stream, and other tasks have their turn."""
        chosen = tuple(run_ids)
        if len(chosen) <= _FEW:
            for run_id in chosen:
                self._do(run_id, partial(op, run_id))
        else:
            self._tasks.run(self, lambda: do_to_each(chosen, op), self._report_rejected)

    def _report_rejected(self, rejected: dict[str, UserError]) -> None:
        """One says enough: all others stay as they are seen."""
        for error in tuple(rejected.values())[:1]:
            self._notices.fail(error)

    def _do(self, run_id: str, op: Callable[[], RunRecord]) -> None:
        known = self._runs.by_id(run_id)

        def take(answer: RunRecord) -> None:
            # What came by the stream meanwhile may be newer, by another window's doing.
            if self._runs.by_id(run_id) is known:
                self._runs.apply(answer)

        self._tasks.run(self, op, take, self._notices.fail)

    def _called(self, run_ids: Collection[str]) -> str:
        if len(run_ids) != 1:
            return run_text.run_count(len(run_ids))
        (run_id,) = run_ids
        run = self._runs.by_id(run_id)
        return run_text.title_of(run) if run else f"Run {run_text.short_id(run_id)}"
