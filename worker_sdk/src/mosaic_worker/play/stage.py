"""An environment and whoever may act in it, made for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.play.actions import fitted_action
from mosaic_worker.play.actor import HUMAN, Part, make_part, print_cause
from mosaic_worker.play.person import Choice, Person
from mosaic_worker.play.refusal import ACTOR_REFUSED, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.play.actor import ActorFactory
    from mosaic_worker.play.host import Host
    from mosaic_worker.play.settings import Settings


class Stage:
    """Who acts: an actor by name, and a person whenever one takes over."""

    def __init__(
        self, host: Host, factories: Mapping[str, ActorFactory], name: str, settings: Settings
    ) -> None:
        """With the actor of that name. WorkerError says why it cannot act here."""
        turns = settings.turn_based
        self.host = host
        self.is_turn_based = host.is_turn_based if turns is None else turns
        self._factories = factories
        self._person = Person(
            host.action_space, settings.idle_action, takes_turns=self.is_turn_based
        )
        self._part = make_part(name, factories, host.env)
        self._is_taken_over = False

    @property
    def agent(self) -> Part:
        """Who acts when nobody has taken over."""
        return self._part

    @property
    def acting(self) -> str:
        """The name that the next step will carry."""
        return HUMAN if self._is_taken_over else self._part.name

    @property
    def person_acts(self) -> bool:
        return self.acting == HUMAN

    @property
    def awaits_person(self) -> bool:
        """Whether nothing happens before the person at the controls acts."""
        return self.person_acts and self.is_turn_based

    @property
    def has_new_action(self) -> bool:
        """Whether the person has acted since the last step."""
        return self._person.has_new

    def choose(self, observation: Any, info: dict[str, Any]) -> Choice:
        """The next action; WorkerError when the actor fails or chooses what is no action."""
        if self.person_acts:
            return self._person.choose()
        action = self._part.act(observation, info)
        return Choice(fitted_action(self.host.action_space, action), 0)

    def cast(self, name: str, situation: tuple[Any, dict[str, Any]] | None) -> None:
        """Let the actor of that name act, from this `situation` on if an episode is under way.

        RefusedError, and the one before acts on, if it cannot be made.
        """
        try:
            part = make_part(name, self._factories, self.host.env)
            if situation is not None:
                part.begin_episode(*situation)
        except WorkerError as error:
            print_cause(error)
            raise RefusedError.because(error, ACTOR_REFUSED) from error
        self._part.close()
        self._part = part
        self._is_taken_over = False
        self._person.let_go()

    def take_over(self) -> None:
        """From now on the person acts."""
        if not self.person_acts:
            self._person.let_go()
        self._is_taken_over = True

    def give_back(self) -> None:
        """From now on the actor acts again. RefusedError when there is none."""
        if self._part.actor is None:
            raise RefusedError(
                "There is no agent to give back to.", remedy="Choose one with set_actor."
            )
        self._is_taken_over = False
        self._person.let_go()

    def give_action(self, value: Any, seq: int) -> None:
        """What the person does next. RefusedError when it is no action, or nobody asked."""
        if not self.person_acts:
            raise RefusedError(f"{self.acting} acts.", remedy="Send takeover first.")
        try:
            self._person.give(value, seq)
        except WorkerError as error:
            raise RefusedError.because(error) from error

    def close(self) -> None:
        self._part.close()
        self.host.close()
