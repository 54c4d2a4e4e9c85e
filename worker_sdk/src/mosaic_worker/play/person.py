"""What the person at the controls has last said to do."""

from __future__ import annotations

from typing import Any, NamedTuple

from mosaic_worker.play.actions import fitted_action, idle_action


class Choice(NamedTuple):
    """An action, and the `seq` of the command that brought it; 0 when it is not new."""

    action: Any
    seq: int


class Person:
    """Newest action counts: held until another comes, or used once where people take turns."""

    def __init__(self, space: Any, idle: Any, *, takes_turns: bool) -> None:
        """`idle` is a JSON value, or None for 0 and zeros. WorkerError when it does not fit."""
        self._space = space
        self._takes_turns = takes_turns
        self._idle = idle_action(space) if idle is None else fitted_action(space, idle)
        self._action = self._idle
        self._seq = 0
        self.has_new = False

    def give(self, value: Any, seq: int) -> None:
        """A JSON value from a command; WorkerError when it is no action of the environment."""
        self._action = fitted_action(self._space, value)
        self._seq = seq
        self.has_new = True

    def choose(self) -> Choice:
        """What to do in this step."""
        choice = Choice(self._action, self._seq)
        self._seq = 0
        self.has_new = False
        if self._takes_turns:
            self._action = self._idle
        return choice

    def let_go(self) -> None:
        """No key is pressed any more."""
        self._action = self._idle
        self._seq = 0
        self.has_new = False
