"""What every agent of a run asks before it goes on: the run's control, and whether it is over."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker.run import Run


class Gate:
    """One for all agents of a run. `go_on` may be called from any thread, often."""

    def __init__(self, control: Run) -> None:
        self._control = control
        self._is_closed = False
        self._one_at_a_time = threading.Lock()

    def go_on(self) -> bool:
        """Blocks while the run is paused; False when the work under way is to end."""
        control = self._control
        if control.is_pause_requested and not self._is_closed:
            # The first to come here says that the run is paused; the others wait for it.
            with self._one_at_a_time:
                control.wait_while_paused()
        return not self.is_over

    async def wait_while_paused(self) -> None:
        """For the thread of the event loop, which must not block."""
        if self._control.is_pause_requested and not self.is_over:
            await asyncio.get_running_loop().run_in_executor(None, self.go_on)

    @property
    def is_over(self) -> bool:
        """What `go_on` would say the opposite of, without waiting."""
        return self._is_closed or self._control.should_stop

    def close(self) -> None:
        """Let nobody go on, and nobody wait: the run ends, whoever wanted it or why."""
        self._is_closed = True
        if self._control.is_pause_requested and not self._control.should_stop:
            self._control.request_stop("the run is ending")
