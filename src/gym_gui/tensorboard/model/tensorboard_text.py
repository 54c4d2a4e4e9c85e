"""What the TensorBoard page says of the shown run, its event files and its server."""

from typing import NamedTuple

from gym_gui.runtime.models import run_text
from gym_gui.tensorboard.feed.event_folders import EventsFound
from gym_gui.tensorboard.model.tensorboard_looks import ServerLook

_MOST_NAMED = 12


class HeadWords(NamedTuple):
    """For the top of the page."""

    facts: str
    facts_tip: str
    damage: str
    folder: str
    start: str
    start_tip: str
    why_not_start: str
    """Empty when the button can be pressed."""


class EmptyWords(NamedTuple):
    """In the place of the curves, where there are none."""

    title: str
    text: str
    action: str = ""
    """What the button below says; without one there is none."""


def head_words(
    found: EventsFound | None, server: ServerLook | None, why_not: str, preparing: str
) -> HeadWords:
    is_up = server is not None and bool(server.address)
    is_starting = server is not None and not server.address and not server.is_failed
    start = "Open TensorBoard" if is_up else "Start TensorBoard"
    busy = "It is starting." if is_starting else preparing
    return HeadWords(
        facts=_facts(found) if found else "",
        facts_tip=_others(found) if found else "",
        damage=_damage(found) if found else "",
        folder=str(found.folder) if found else "",
        start=start,
        start_tip=f"It is at {server.address}" if server and is_up else "Then opens its page",
        why_not_start=why_not or busy,
    )


def export_words(points: int) -> EmptyWords:
    told = f"{run_text.whole(points)} points so far." if points else "Reading what the run told."
    return EmptyWords("Exporting event files…", told, "Cancel")


def no_files_words(why_no_events: str, why_not_export: str) -> EmptyWords:
    if why_not_export:
        return EmptyWords("No event files", f"{why_no_events} {why_not_export}")
    text = (
        f"{why_no_events} Its metrics and episodes can be exported as such; "
        "the charts show them without."
    )
    return EmptyWords("No event files", text, "Export as event files")


def _facts(found: EventsFound) -> str:
    parts = [
        f"{_some(found.files, 'event file')}, {run_text.size(found.size_bytes)}",
        f"{_some(len(found.tags), 'curve')} with {_some(found.points, 'point')}",
    ]
    if found.other_tags:
        parts.append(_some(len(found.other_tags), "other tag"))
    return "  ·  ".join(parts)


def _others(found: EventsFound) -> str:
    """Texts, histograms and pictures."""
    names = found.other_tags
    more = f", and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"Only TensorBoard shows {', '.join(names[:_MOST_NAMED])}{more}" if names else ""


def _damage(found: EventsFound) -> str:
    parts = []
    if found.unreadable_records:
        parts.append(f"{_some(found.unreadable_records, 'record')} could not be read.")
    if found.broken_files:
        names = ", ".join(found.broken_files)
        parts.append(f"The rest of {names} is damaged: what came before it is shown.")
    return " ".join(parts)


def _some(count: int, what: str) -> str:
    return f"{run_text.whole(count)} {what}{'' if count == 1 else 's'}"
