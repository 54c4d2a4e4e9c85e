"""Texts of the TensorBoard page: event files of the selected run, and servers."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_integer
from gym_gui.runtime.models.notices import Tone
from gym_gui.tensorboard.feed.event_folders import EventSummary
from gym_gui.tensorboard.feed.tensorboard_servers import ServerState, TensorBoardServer
from mosaic.contract.formatting import format_size

_MAX_LISTED_TAGS = 12
_MAX_TITLE_NAMES = 3


@dataclass(frozen=True, slots=True)
class ServerSummary:
    """A server, or a failed start."""

    server: TensorBoardServer
    """Passed back to the model."""
    title: str
    detail: str
    """The folders it serves, one per line."""
    state: str
    tone: Tone
    address: str
    """Empty until it answers."""
    problem: str
    output: str

    @property
    def is_failed(self) -> bool:
        return bool(self.problem)


_STATES: dict[ServerState, tuple[str, Tone]] = {
    ServerState.STARTING: ("◌ starting", "warning"),
    ServerState.RUNNING: ("● running", "good"),
    ServerState.FAILED: ("✕ failed", "bad"),
    ServerState.STOPPED: ("○ stopped", "plain"),
}


def server_summary(server: TensorBoardServer, now: float) -> ServerSummary:
    state, tone = _STATES[server.state]
    if server.state is ServerState.STARTING:
        state = f"{state} {max(0, int(now - server.started_at))} s"
    failed = server.problem if server.state is ServerState.FAILED else None
    return ServerSummary(
        server=server,
        title=_title(server.folders),
        detail="\n".join(map(str, server.folders.values())),
        state=state,
        tone=tone,
        address=server.address if server.state is ServerState.RUNNING else "",
        problem=f"{failed.message} {failed.remedy}" if failed else "",
        output=server.output if failed else "",
    )


def _title(folders: dict[str, Path]) -> str:
    names = list(folders)
    if len(names) <= _MAX_TITLE_NAMES:
        return ", ".join(names)
    remaining = len(names) - _MAX_TITLE_NAMES + 1
    return f"{', '.join(names[: _MAX_TITLE_NAMES - 1])} and {run_text.run_count(remaining)} more"


class HeaderText(NamedTuple):
    """Texts of the page header."""

    stats: str
    stats_tip: str
    damage: str
    folder: str
    start: str
    start_tip: str
    why_not_start: str
    """Empty if the button is enabled."""


class EmptyText(NamedTuple):
    """Shown if there are no curves."""

    title: str
    text: str
    action: str = ""
    """Label of the button; empty for no button."""


def header_text(
    summary: EventSummary | None, server: ServerSummary | None, why_not: str, preparing: str
) -> HeaderText:
    is_running = server is not None and bool(server.address)
    is_starting = server is not None and not server.address and not server.is_failed
    start = "Open TensorBoard" if is_running else "Start TensorBoard"
    busy = "TensorBoard is starting." if is_starting else preparing
    return HeaderText(
        stats=_stats(summary) if summary else "",
        stats_tip=_other_tags_text(summary) if summary else "",
        damage=_damage(summary) if summary else "",
        folder=str(summary.folder) if summary else "",
        start=start,
        start_tip=f"Open {server.address}"
        if server and is_running
        else "Start a server and open its page",
        why_not_start=why_not or busy,
    )


def export_text(points: int) -> EmptyText:
    progress = (
        f"{format_integer(points)} points so far."
        if points
        else "Reading the telemetry of the run."
    )
    return EmptyText("Exporting event files…", progress, "Cancel")


def no_files_text(why_no_events: str, why_not_export: str) -> EmptyText:
    if why_not_export:
        return EmptyText("No event files", f"{why_no_events} {why_not_export}")
    text = f"{why_no_events} Export its metrics and episodes, or see them in the charts."
    return EmptyText("No event files", text, "Export as event files")


def _stats(summary: EventSummary) -> str:
    parts = [
        f"{_count(summary.files, 'event file')}, {format_size(summary.size_bytes)}",
        f"{_count(len(summary.tags), 'curve')} with {_count(summary.points, 'point')}",
    ]
    if summary.other_tags:
        parts.append(_count(len(summary.other_tags), "other tag"))
    return "  ·  ".join(parts)


def _other_tags_text(summary: EventSummary) -> str:
    """Tags of texts, histograms and images."""
    names = summary.other_tags
    more = f", and {len(names) - _MAX_LISTED_TAGS} more" if len(names) > _MAX_LISTED_TAGS else ""
    return (
        f"Visible only in TensorBoard: {', '.join(names[:_MAX_LISTED_TAGS])}{more}" if names else ""
    )


def _damage(summary: EventSummary) -> str:
    parts = []
    if summary.unreadable_records:
        parts.append(f"{_count(summary.unreadable_records, 'record')} could not be read.")
    if summary.broken_files:
        names = ", ".join(summary.broken_files)
        parts.append(f"The rest of {names} is damaged. The records before it are listed.")
    return " ".join(parts)


def _count(count: int, noun: str) -> str:
    return f"{format_integer(count)} {noun}{'' if count == 1 else 's'}"
