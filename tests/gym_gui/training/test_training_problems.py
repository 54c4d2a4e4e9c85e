"""Problems of a draft are assigned to the section and field that they concern."""

from typing import Any

import pytest

from gym_gui.training.model.training_fields import SECTIONS, parameters_of
from gym_gui.training.model.training_problems import (
    find_problems,
    group_by_section,
    problems_in_error,
    problems_in_preflight,
)
from mosaic.contract.descriptor import (
    Algorithm,
    Needs,
    WorkerCapabilities,
    WorkerDescriptor,
)
from mosaic.contract.errors import UserError
from mosaic.contract.parameters import Parameter
from mosaic.contract.readiness import CheckStatus, PreflightItem

WORKER = WorkerDescriptor(
    worker="some_worker",
    modes=("train",),
    algorithms=(
        Algorithm(
            id="some",
            parameters=(
                Parameter(name="count", type="int", default=4, min=1, max=10),
                Parameter(name="rate", type="float", default=0.1, min=0.0, max=1.0),
                Parameter(name="is_on", type="bool", default=False),
                Parameter(name="kind", type="choice", default="a", choices=("a", "b")),
                Parameter(name="text", type="str", default=""),
                Parameter(name="threads", type="int", default=0, group="Machine"),
            ),
        ),
    ),
)
RUN: dict[str, Any] = {"worker": "some_worker", "algo": "some", "env_id": "CartPole-v1"}


@pytest.mark.parametrize(
    ("changes", "section", "field"),
    [
        ({"params": {"count": "x"}}, "params", "count"),
        ({"params": {"count": 2.5}}, "params", "count"),
        ({"params": {"count": 11}}, "params", "count"),
        ({"params": {"rate": -0.5}}, "params", "rate"),
        ({"params": {"is_on": "yes"}}, "params", "is_on"),
        ({"params": {"kind": "c"}}, "params", "kind"),
        ({"params": {"text": 3}}, "params", "text"),
        ({"seed": -1}, "run", "seed"),
        ({"total_timesteps": 0}, "run", "total_timesteps"),
        ({"run_name": "two\nlines"}, "about", "run_name"),
        ({"artifacts": {"video": {"every_episodes": 0}}}, "artifacts", "video_every"),
        ({"artifacts": {"checkpoints": {"keep": 0}}}, "artifacts", "checkpoints_kept"),
        ({"artifacts": {"wandb": {"project": ""}}}, "tracking", "project"),
        ({"artifacts": {"wandb": {"mode": "x"}}}, "tracking", "mode"),
        ({"artifacts": {"wandb": {"proxy": "ftp://x"}}}, "tracking", "proxy"),
    ],
)
def test_an_invalid_value(changes: dict[str, Any], section: str, field: str) -> None:
    """It is reported at its field only."""
    problems = group_by_section(find_problems(RUN | changes, WORKER))
    assert list(problems) == [section]
    (problem,) = next(iter(problems.values()))
    assert problem.path == (field,)
    assert problem.remedy


def test_valid_values() -> None:
    """There are no problems."""
    assert find_problems(RUN | {"params": {"count": 5, "kind": "b"}}, WORKER) == ()


def test_an_error_of_the_daemon() -> None:
    """The fields that the message names are marked."""
    several = UserError(
        "2 problems in the run configuration:\n"
        "  `params.rate` is 2.0, which is out of range. Give less.\n"
        "  `seed` is text. Give a number.",
        remedy="Correct these and try again.",
    )
    problems = group_by_section(problems_in_error(several))
    assert {section: problems[section][0].path for section in problems} == {
        "params": ("rate",),
        "run": ("seed",),
    }
    assert problems_in_error(UserError("No daemon answers.", remedy="Start one.")) == ()


def test_blocking_preflight_checks() -> None:
    """Only blocking checks mark fields."""
    items = [
        PreflightItem(
            check="parameters",
            status=status,
            message="`params.count` is text.",
            remedy="Give a number.",
        )
        for status in CheckStatus
    ]
    assert [problem.path for problem in problems_in_preflight(items)] == [("params", "count")]


def test_fields_follow_the_descriptor() -> None:
    """A section that the worker does not support has no fields."""
    algorithm = WORKER.algorithms[0].parameters
    minimal = {section: parameters_of(section, WORKER, algorithm) for section in SECTIONS}
    assert [section for section in SECTIONS if not minimal[section]] == [
        "artifacts",
        "tracking",
        "extras",
    ]
    assert [parameter.name for parameter in minimal["more_params"]] == ["threads"]
    complete = WorkerDescriptor(
        worker="complete",
        lane="analytics",
        supports=WorkerCapabilities(checkpoints=True),
        needs=Needs(extras=("video", "wandb")),
    )
    assert all(parameters_of(section, complete, algorithm) for section in SECTIONS)
