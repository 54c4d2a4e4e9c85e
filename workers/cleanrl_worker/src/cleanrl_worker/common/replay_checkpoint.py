"""A replay buffer in checkpoints: complete if it is small enough, otherwise left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.session.training_session import TrainingSession


class SavableBuffer(Protocol):
    """A replay buffer that can be saved and loaded."""

    @property
    def nbytes(self) -> int: ...

    def state(self) -> dict[str, Any]: ...

    def load(self, state: Mapping[str, Any]) -> None: ...


class ReplayCheckpoint:
    """Saves one training's replay buffer in its checkpoints and restores it."""

    def __init__(self, buffer: SavableBuffer, session: TrainingSession) -> None:
        self._buffer = buffer
        self._session = session
        self._has_warned = False

    def state(self) -> dict[str, Any]:
        """Return the buffer's entry of a checkpoint's `training`; empty if it is too large.

        Warns the first time, so that the limit can be changed before a resume.
        """
        if self._session.can_save_buffer(self._buffer.nbytes):
            return {"buffer": self._buffer.state()}
        self._warn_once(
            f"The replay buffer has grown to {self._buffer.nbytes / 2**20:.1f} MB, too large for"
            " checkpoints (see --checkpoint-buffer-mb): a resumed training will refill it before"
            " it continues to learn."
        )
        return {}

    def restore(self, learning_starts: int) -> int:
        """Load the buffer and return the step of the first update.

        Without a saved buffer, learning starts after `learning_starts` further steps.
        """
        resumed = self._session.resumed
        if resumed is None:
            return learning_starts
        if "buffer" in resumed.training:
            self._buffer.load(resumed.training["buffer"])
            return learning_starts
        self._warn_once(
            "The replay buffer was too large for the checkpoint (see --checkpoint-buffer-mb):"
            f" learning continues after {learning_starts} steps that refill it."
        )
        return self._session.first_step + learning_starts

    def _warn_once(self, message: str) -> None:
        if not self._has_warned:
            self._session.log_message("warning", message)
        self._has_warned = True
