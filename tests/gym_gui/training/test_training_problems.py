"""What is wrong with a draft, at the field where it is wrong."""

from typing import Any

import pytest

from gym_gui.training.model.training_fields import SECTIONS, parameters_of
from gym_gui.training.model.training_problems import (
    find_problems,
    located,
    problems_in,
    problems_of,
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
                Parameter(name="words", type="str", default=""),
                Parameter(name="threads", type="int", default=0, group="Machine"),
            ),
        ),
    ),
)
RUN: dict[str, Any] = {"worker": "some_worker", "algo": "some", "env_id": "CartPole-v1"}


@pytest.mark.parametrize(
    ("given", "section", "field"),
    [
        ({"params": {"count": "x"}}, "params", "count"),
        ({"params": {"count": 2.5}}, "params", "count"),
        ({"params": {"count": 11}}, "params", "count"),
        ({"params": {"rate": -0.5}}, "params", "rate"),
        ({"params": {"is_on": "yes"}}, "params", "is_on"),
        ({"params": {"kind": "c"}}, "params", "kind"),
        ({"params": {"words": 3}}, "params", "words"),
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
def test_a_wrong_value(given: dict[str, Any], section: str, field: str) -> None:
    """Of any type, it is told at its field, and nowhere else."""
    found = located(find_problems(RUN | given, WORKER))
    assert list(found) == [section]
    (problem,) = next(iter(found.values()))
    assert problem.path == (field,)
    assert problem.remedy


def test_what_is_in_order() -> None:
    """There is nothing to say."""
    assert find_problems(RUN | {"params": {"count": 5, "kind": "b"}}, WORKER) == ()


def test_a_refusal_by_the_daemon() -> None:
    """The fields that its words name are those that are marked."""
    several = UserError(
        "2 problems in the run configuration:\n"
        "  `params.rate` is 2.0, which is out of range. Give less.\n"
        "  `seed` is text. Give a number.",
        remedy="Correct these and try again.",
    )
    found = located(problems_in(several))
    assert {section: found[section][0].path for section in found} == {
        "params": ("rate",),
        "run": ("seed",),
    }
    assert problems_in(UserError("No daemon answers.", remedy="Start one.")) == ()


def test_what_blocks_in_preflight() -> None:
    """Warnings mark nothing."""
    items = [
        PreflightItem(
            check="parameters",
            status=status,
            message="`params.count` is text.",
            remedy="Give a number.",
        )
        for status in CheckStatus
    ]
    assert [problem.path for problem in problems_of(items)] == [("params", "count")]


def test_what_a_worker_does_not_state() -> None:
    """It has no field; what it states has one."""
    algorithm = WORKER.algorithms[0].parameters
    plain = {section: parameters_of(section, WORKER, algorithm) for section in SECTIONS}
    assert [section for section in SECTIONS if not plain[section]] == [
        "artifacts",
        "tracking",
        "extras",
    ]
    assert [each.name for each in plain["more_params"]] == ["threads"]
    able = WorkerDescriptor(
        worker="able",
        lane="analytics",
        supports=WorkerCapabilities(checkpoints=True),
        needs=Needs(extras=("video", "wandb")),
    )
    assert all(parameters_of(section, able, algorithm) for section in SECTIONS)
