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


class ReplayInCheckpoint:
    """The buffer of one training, on its way into checkpoints and out of one."""

    def __init__(self, buffer: Replay, session: Session) -> None:
        self._buffer = buffer
        self._session = session
        self._has_told = False

    def state(self) -> dict[str, Any]:
        """What goes into a checkpoint's `training`; nothing when the buffer is too large.

        That is said the first time: on resuming it would be too late to do anything about it.
        """
        if self._session.may_save_buffer(self._buffer.nbytes):
            return {"buffer": self._buffer.state()}
        self._tell(
            f"The replay buffer has grown to {self._buffer.nbytes / 2**20:.1f} MB, too large for"
            " checkpoints (see --checkpoint-buffer-mb): a resumed training will fill a new one"
            " before it goes on learning."
        )
        return {}

    def restore(self, learning_starts: int) -> int:
        """The step after which learning begins: later when the buffer has to be filled anew."""
        resumed = self._session.resumed
        if resumed is None:
            return learning_starts
        if "buffer" in resumed.training:
            self._buffer.load(resumed.training["buffer"])
            return learning_starts
        self._tell(
            "The replay buffer was too large for the checkpoint (see --checkpoint-buffer-mb):"
            f" learning goes on after {learning_starts} steps that fill a new one."
        )
        return self._session.first_step + learning_starts

    def _tell(self, message: str) -> None:
        if not self._has_told:
            self._session.say("warning", message)
        self._has_told = True
