"""Former names of the public client API are still accepted."""

import importlib
import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from mosaic.client.errors import TrainerError
from mosaic.client.former_names import FORMER_NAMES, FormerName, accept_former_keywords
from mosaic.client.results import EventLine
from mosaic.client.sessions.actor_service import ActorService
from mosaic.client.sessions.session_state import CurrentEpisode, SessionPhase
from mosaic.client.sweeps.study import Study, StudyTrial
from mosaic.client.trainer_client import TrainerClient


@pytest.mark.parametrize(
    ("module", "former", "current"),
    [(module, *names) for module, table in FORMER_NAMES.items() for names in table.items()],
)
def test_former_name_is_the_current_object(module: str, former: str, current: str) -> None:
    """Also with `from module import name`."""
    loaded = importlib.import_module(module)
    assert getattr(loaded, former) is getattr(loaded, current)


def test_unknown_name_is_an_attribute_error() -> None:
    """As in any other module."""
    errors = importlib.import_module("mosaic.client.errors")
    with pytest.raises(AttributeError, match="no attribute 'NoSuchError'"):
        _ = errors.NoSuchError


@pytest.mark.parametrize(
    ("owner", "former", "current"),
    [
        (TrainerClient, "hold", "renew_lease"),
        (TrainerClient, "page", "runs_page"),
        (TrainerClient, "environment_picture", "environment_thumbnail"),
        (ActorService, "request_for", "make_run_config"),
        (ActorService, "run_config", "to_run_config"),
    ],
)
def test_former_method_calls_the_current_one(owner: type[Any], former: str, current: str) -> None:
    """On the class, and on an instance."""
    assert getattr(owner, former) is getattr(owner, current)
    descriptor = inspect.getattr_static(owner, former)
    assert isinstance(descriptor, FormerName)
    assert descriptor.__get__(SimpleNamespace(**{current: 7}), owner) == 7


def test_former_keywords_of_the_client() -> None:
    """Both spellings of a keyword argument have the same effect."""

    def connect(**keywords: Any) -> float | None:
        with TrainerClient("127.0.0.1:1", "token", **keywords) as client:
            return client._reconnect_timeout_s

    assert connect(patience_s=3.0) == connect(reconnect_timeout_s=3.0) == 3.0
    assert connect(patience_s=None) is None

    @accept_former_keywords(least_return="min_return")
    def query(**keywords: Any) -> dict[str, Any]:
        return keywords

    assert query(least_return=1.0) == query(min_return=1.0) == {"min_return": 1.0}


def test_former_attributes_of_values() -> None:
    """Of session states, events and studies."""
    assert SessionPhase["OVER"] is SessionPhase.FINISHED
    assert SessionPhase["ENDING"] is SessionPhase.STOPPING
    assert [phase.value for phase in SessionPhase][-2:] == ["ending", "over"]
    assert SessionPhase.RUNNING.is_going
    assert CurrentEpisode("e", is_finished=True).is_over
    line = EventLine(
        seq=0, type="log", line=b'{"type":"log","level":"info","code":"T1","message":"m"}'
    )
    assert line.decoded() == line.decode()
    trial = StudyTrial(
        number=0, state="complete", intermediate_values={1: 2.0}, user_attrs={"a": 1}, values=(3.0,)
    )
    assert (trial.intermediate, trial.attributes, trial.latest) == ({1: 2.0}, {"a": 1}, 3.0)
    study = Study(name="s", directions=("maximize",), trials=(trial,), user_attrs={"b": 2})
    assert (study.best, study.attributes) == (trial, {"b": 2})


def test_former_error_is_caught() -> None:
    """`except WrongTokenError` in a notebook catches what is raised now."""
    errors = importlib.import_module("mosaic.client.errors")
    with pytest.raises(errors.WrongTokenError) as raised:
        raise errors.InvalidTokenError("The token is not accepted.", remedy="Use another one.")
    assert isinstance(raised.value, TrainerError)
