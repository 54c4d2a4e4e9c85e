"""TensorBoard's servers in words, as the page shows them."""

from dataclasses import dataclass
from pathlib import Path

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Tone
from gym_gui.tensorboard.feed.tensorboard_servers import ServerState, TensorBoardServer

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class ServerLook:
    """One server, or one that could not be started."""

    server: TensorBoardServer
    """To be handed back to the model."""
    title: str
    detail: str
    """The folders it shows, one a line."""
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


def look_of(server: TensorBoardServer, now: float) -> ServerLook:
    word, tone = _STATES[server.state]
    if server.state is ServerState.STARTING:
        word = f"{word} {max(0, int(now - server.started_at))} s"
    failed = server.problem if server.state is ServerState.FAILED else None
    return ServerLook(
        server=server,
        title=_title(server.folders),
        detail="\n".join(map(str, server.folders.values())),
        state=word,
        tone=tone,
        address=server.address if server.state is ServerState.RUNNING else "",
        problem=f"{failed.message} {failed.remedy}" if failed else "",
        output=server.output if failed else "",
    )


def _title(folders: dict[str, Path]) -> str:
    names = list(folders)
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    rest = len(names) - _MOST_NAMES + 1
    return f"{', '.join(names[: _MOST_NAMES - 1])} and {run_text.some_runs(rest)} more"
