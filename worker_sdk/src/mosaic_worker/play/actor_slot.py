"""ActorSlot: an environment, its actor, and the input of a human who may take over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.environments.spaces import to_action
from mosaic_worker.errors import ACTOR_REJECTED, CommandError, WorkerError
from mosaic_worker.play.actor import HUMAN, NamedActor, make_actor, print_traceback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.play.actor import ActorFactory
    from mosaic_worker.play.session_env import SessionEnv
    from mosaic_worker.play.settings import PlaySettings

_MAX_REPR_CHARS = 80


class ChosenAction(NamedTuple):
    """An action, and the `seq` of the command that sent it; 0 if it is not new."""

    action: Any
    seq: int


class ActorSlot:
    """Chooses actions with a named actor, or with a human while one has taken over."""

    def __init__(
        self,
        env: SessionEnv,
        factories: Mapping[str, ActorFactory],
        name: str,
        settings: PlaySettings,
    ) -> None:
        """Create the actor with this name. Raises WorkerError."""
        turn_based = settings.turn_based
        self.env = env
        self.is_turn_based = env.is_turn_based if turn_based is None else turn_based
        self._factories = factories
        self._human = HumanInput(
            env.action_space, settings.idle_action, is_turn_based=self.is_turn_based
        )
        self._actor = make_actor(name, factories, env.env)
        self._is_taken_over = False

    @property
    def actor(self) -> NamedActor:
        """The actor that acts unless a human has taken over."""
        return self._actor

    @property
    def active_name(self) -> str:
        """The actor name of the next step."""
        return HUMAN if self._is_taken_over else self._actor.name

    @property
    def is_human_active(self) -> bool:
        return self.active_name == HUMAN

    @property
    def waits_for_human(self) -> bool:
        """Whether no step is taken until the human sends an action."""
        return self.is_human_active and self.is_turn_based

    @property
    def has_new_action(self) -> bool:
        """Whether the human has sent an action since the last step."""
        return self._human.has_new_action

    def choose(self, observation: Any, info: dict[str, Any]) -> ChosenAction:
        """The next action. Raises WorkerError if the actor fails or returns an invalid action."""
        if self.is_human_active:
            return self._human.choose()
        action = self._actor.act(observation, info)
        return ChosenAction(to_valid_action(self.env.action_space, action), 0)

    def set_actor(self, name: str, observation_and_info: tuple[Any, dict[str, Any]] | None) -> None:
        """Replace the actor; `observation_and_info` are the last ones of a running episode.

        Raises CommandError, and keeps the current actor, if the new one cannot be created.
        """
        try:
            actor = make_actor(name, self._factories, self.env.env)
            if observation_and_info is not None:
                actor.begin_episode(*observation_and_info)
        except WorkerError as error:
            print_traceback(error)
            raise CommandError.from_error(error, ACTOR_REJECTED) from error
        self._actor.close()
        self._actor = actor
        self._is_taken_over = False
        self._human.clear()

    def take_over(self) -> None:
        """Give control to the human."""
        if not self.is_human_active:
            self._human.clear()
        self._is_taken_over = True

    def release(self) -> None:
        """Give control back to the actor. Raises CommandError if there is none."""
        if self._actor.actor is None:
            raise CommandError(
                "There is no actor to release control to.", remedy="Choose one with set_actor."
            )
        self._is_taken_over = False
        self._human.clear()

    def set_human_action(self, value: Any, seq: int) -> None:
        """Set the human's next action. Raises CommandError if it is invalid or not expected."""
        if not self.is_human_active:
            raise CommandError(f"{self.active_name} is in control.", remedy="Send takeover first.")
        try:
            self._human.set_action(value, seq)
        except WorkerError as error:
            raise CommandError.from_error(error) from error

    def close(self) -> None:
        self._actor.close()
        self.env.close()


class HumanInput:
    """The newest action of the human: held until the next one, or used once if turn-based."""

    def __init__(self, space: Any, idle: Any, *, is_turn_based: bool) -> None:
        """`idle` is a JSON value, or None for 0 or zeros. Raises WorkerError if it is invalid."""
        self._space = space
        self._is_turn_based = is_turn_based
        self._idle = make_idle_action(space) if idle is None else to_valid_action(space, idle)
        self._action = self._idle
        self._seq = 0
        self.has_new_action = False

    def set_action(self, value: Any, seq: int) -> None:
        """Set the action from a JSON value. Raises WorkerError if it is invalid."""
        self._action = to_valid_action(self._space, value)
        self._seq = seq
        self.has_new_action = True

    def choose(self) -> ChosenAction:
        """The action of this step."""
        choice = ChosenAction(self._action, self._seq)
        self._seq = 0
        self.has_new_action = False
        if self._is_turn_based:
            self._action = self._idle
        return choice

    def clear(self) -> None:
        """Return to the idle action, as if no key were pressed."""
        self._action = self._idle
        self._seq = 0
        self.has_new_action = False


def to_valid_action(space: Any, choice: Any) -> Any:
    """Convert the choice of an actor, or a JSON value, to an action. Raises WorkerError."""
    if type(space).__name__ == "Discrete":
        return to_action(space, choice)  # an int: gymnasium is slow with numpy scalars
    if hasattr(choice, "dtype") and space.contains(choice):
        return choice  # lists may pass `contains` too, but not every environment accepts them
    to_list = getattr(choice, "tolist", None)
    action = to_action(space, choice if to_list is None else to_list())
    if not space.contains(action):
        text = repr(choice)
        text = text if len(text) <= _MAX_REPR_CHARS else f"{text[:_MAX_REPR_CHARS]}…"
        raise WorkerError(f"{text} is not an action of {space}.", remedy="Choose a valid action.")
    return action


def make_idle_action(space: Any) -> Any:
    """The action most likely to do nothing: 0, or zeros within the bounds."""
    import numpy as np  # noqa: PLC0415 - optional, and slow to import
    from gymnasium import spaces  # noqa: PLC0415

    if isinstance(space, spaces.Discrete):
        return int(space.start)
    if isinstance(space, spaces.Box):
        return np.clip(np.zeros(space.shape, space.dtype), space.low, space.high)
    if isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        return np.zeros(space.shape, space.dtype) + getattr(space, "start", 0)
    if isinstance(space, spaces.Tuple):
        return tuple(make_idle_action(part) for part in space.spaces)
    if isinstance(space, spaces.Dict):
        return {name: make_idle_action(part) for name, part in space.spaces.items()}
    return space.sample()
