"""What a learner steps in: states are numbers, and episodes record themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Stepped = tuple[int, float, bool, bool]
    """The state that the action led to, the reward, and whether it is terminated or truncated."""


class World(Protocol):
    """One environment, as `learner` and nobody else uses it."""

    actions: int
    step: Callable[[int], Stepped]

    def begin(self) -> int:
        """Begin an episode; the state it begins in."""

    def tell(self) -> None:
        """Hold back no longer what happened so far; it is written within 200 ms."""

    def note(self, bdi: Mapping[str, Any]) -> None:
        """Put this onto the next step, where steps are told one by one."""

    def live_pairs(self, tries: list[int]) -> list[int]:
        """Of how often each action was tried in each state: where there is something to learn."""

    def close(self) -> None: ...
