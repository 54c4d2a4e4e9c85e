"""A replay buffer as part of a checkpoint: whole when it is small enough, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.session.session import Session


class Replay(Protocol):
    """A buffer that can be put away and brought back."""

    @property
    def nbytes(self) -> int: ...

    def state(self) -> dict[str, Any]: ...

    def load(self, state: Mapping[str, Any]) -> None: ...


def replay_state(buffer: Replay, session: Session) -> dict[str, Any]:
    """What goes into a checkpoint's `training`; nothing when the buffer is too large."""
    return {"buffer": buffer.state()} if session.may_save_buffer(buffer.nbytes) else {}


def restore_replay(buffer: Replay, session: Session, learning_starts: int) -> int:
    """The step after which learning begins: later when the buffer has to be filled anew."""
    if session.resumed is None:
        return learning_starts
    if "buffer" in session.resumed.training:
        buffer.load(session.resumed.training["buffer"])
        return learning_starts
    session.say(
        "warning",
        "The replay buffer was too large for the checkpoint (see --checkpoint-buffer-mb):"
        f" learning goes on after {learning_starts} steps that fill a new one.",
    )
    return session.first_step + learning_starts
