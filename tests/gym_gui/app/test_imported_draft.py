"""Duplicating an imported run: its code is left out, named, and added only on request."""

import json
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import pytest
from PySide6.QtCore import QObject

from gym_gui.app.training_navigation import TrainingNavigation
from mosaic.contract.imported_code import withhold_code
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails, RunRecord

_RUN = RunRecord(
    run_id="01J00000000000000000000000",
    name="foreign",
    worker="echo_worker",
    mode="train",
    env_id="Echo-v0",
    seed=1,
    state=RunState.SUCCEEDED,
    created_at=0.0,
    imported=True,
)


class _Context(QObject):
    """Stands for the application: every part records what is called."""

    def __init__(self, details: RunDetails) -> None:
        super().__init__()
        self.parts = MagicMock()
        self.parts.models.runs.by_id.return_value = _RUN
        self.parts.link.client.run.return_value = details
        self.parts.tasks.run = _run_now

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parts, name)


def _run_now(
    _: QObject, work: Callable[[], Any], done: Callable[[Any], None], *_others: Any
) -> None:
    done(work())


def _details(config: dict[str, Any]) -> RunDetails:
    safe, withheld = withhold_code(config)
    return RunDetails(
        run=_RUN,
        config_json=json.dumps(safe).encode(),
        withheld_json=json.dumps(withheld).encode(),
    )


@pytest.mark.usefixtures("qapp")
def test_code_of_an_imported_run_is_added_on_request() -> None:
    """The notice names the folder; its button adds it to the draft."""
    config = {"worker": "echo_worker", "env_id": "Echo-v0", "python_path": ["../evil"]}
    context = _Context(_details(config))
    navigation = TrainingNavigation(context)  # type: ignore[arg-type]
    navigation.duplicate(_RUN.run_id)
    (draft, _), _ = context.parts.training.duplicate_run.call_args
    assert "python_path" not in draft
    (message, action, use_code), _ = context.parts.notices.offer.call_args
    assert "../evil" in message
    assert action == "Use this code"
    use_code()
    (draft, _), _ = context.parts.training.duplicate_run.call_args
    assert draft["python_path"] == ["../evil"]


@pytest.mark.usefixtures("qapp")
def test_a_run_without_code_is_duplicated_without_a_notice() -> None:
    """An imported run that names no code is an ordinary draft."""
    context = _Context(_details({"worker": "echo_worker", "env_id": "Echo-v0"}))
    TrainingNavigation(context).duplicate(_RUN.run_id)  # type: ignore[arg-type]
    assert context.parts.training.duplicate_run.called
    assert not context.parts.notices.offer.called
