"""ActorRoster: who can act in an environment, asked of the daemon on a thread.

Called by `runtime.models.actors_model`, which keeps the newest answer.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.client.sessions.actor_descriptors import HUMAN, ActorDescriptor
from mosaic.contract.errors import UserError

__all__ = ["HUMAN", "ActorDescriptor", "ActorRoster"]


class ActorRoster:
    """Made once, by the wiring. Nothing is kept: each question sees what has changed."""

    def __init__(self, link: TrainerLink, tasks: Tasks) -> None:
        self._link = link
        self._tasks = tasks

    @property
    def can_query(self) -> bool:
        return self._link.has_client

    def ask(
        self,
        parent: QObject,
        env_id: str,
        on_success: Callable[[tuple[ActorDescriptor, ...]], None],
        on_failure: Callable[[UserError], None],
    ) -> None:
        """All actors in the order of the roster, each judged for the environment."""
        from mosaic.client.sessions.actor_service import ActorService  # noqa: PLC0415 - brings gRPC

        client = self._link.client
        self._tasks.run(parent, lambda: ActorService(client).actors(env_id), on_success, on_failure)
