"""The worker descriptor: what `--describe` prints, and forms, badges and options are made from.

What a descriptor does not say is unsupported. Fields that are not known here are ignored, so that
a worker may be newer than the workbench.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import copy_json, parse_json
from mosaic.contract.parameters import Parameter, check_parameter, check_values
from mosaic.contract.problems import MOST_PROBLEMS, DocumentError, Path, Problem, closest
from mosaic.contract.run_config import Mode, StepDetail
from mosaic.contract.shape import check_all
from mosaic.contract.text_types import Identifier
from mosaic.contract.type_info import work_out


class DescriptorError(DocumentError):
    """A worker's descriptor was refused."""

    document = "worker descriptor"
    default_code = "C141"


class Algorithm(msgspec.Struct, kw_only=True, frozen=True):
    """One thing the worker can learn with."""

    id: Identifier
    label: str = ""
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()
    action_spaces: Annotated[
        tuple[str, ...], Meta(description="Such as `discrete` and `box`; empty: any.")
    ] = ()
    families: Annotated[
        tuple[str, ...],
        Meta(description="Only environments of these; empty: all that the worker takes."),
    ] = ()
    gpu: Literal["none", "optional", "required"] = "none"
    recommended: Annotated[
        dict[str, dict[str, Any]], Meta(description="Values per environment family.")
    ] = {}
    page: Annotated[str, Meta(description="A longer help, in Markdown.")] = ""


class Environments(msgspec.Struct, kw_only=True, frozen=True):
    """Where the worker can act: whole families, a list, or any id at all."""

    families: tuple[str, ...] = ()
    any: bool = False
    ids: tuple[str, ...] = ()


class WorkerCapabilities(msgspec.Struct, kw_only=True, frozen=True):
    """What the worker can do beyond running."""

    policy_load: bool = False
    warm_start: bool = False
    resume: bool = False
    pause: bool = False
    checkpoints: bool = False
    minimal_telemetry: bool = False
    scripts: Annotated[bool, Meta(description="Runs scripts of others; a run's `script`.")] = False


class Needs(msgspec.Struct, kw_only=True, frozen=True):
    """What must be there before the worker can run."""

    bundle: Identifier | None = None
    extras: tuple[Identifier, ...] = ()
    services: Annotated[tuple[str, ...], Meta(description="Such as `xmpp`.")] = ()
    network: bool = False
    credentials: Annotated[
        tuple[str, ...], Meta(description="Names of environment variables, never values.")
    ] = ()
    dataset: bool = False


class WorkerDescriptor(msgspec.Struct, kw_only=True, frozen=True):
    """A worker in its own words."""

    worker: Identifier
    label: str = ""
    version: str = ""
    summary: str = ""
    lane: Literal["telemetry", "analytics", "hybrid"] = "telemetry"
    modes: tuple[Mode, ...] = ()
    algorithms: tuple[Algorithm, ...] = ()
    environments: Environments = Environments()
    supports: WorkerCapabilities = WorkerCapabilities()
    needs: Needs = Needs()
    tabs: Annotated[tuple[str, ...], Meta(description="Extra views by kind.")] = ()
    licence: Annotated[tuple[str, ...], Meta(description="Notes for people.")] = ()

    def step_detail(self, mode: Mode, asked: StepDetail) -> StepDetail:
        """How much a run of the worker tells of each step, where `auto` leaves it to the worker."""
        if asked != "auto":
            return asked
        return "off" if mode == "train" and self.lane == "analytics" else "all"

    def algorithm(self, algorithm_id: str) -> Algorithm | None:
        """The algorithm of that id."""
        return next((algo for algo in self.algorithms if algo.id == algorithm_id), None)


def decode_descriptor(data: bytes, source: str = "") -> WorkerDescriptor:
    """The descriptor that a worker printed. Raises `DescriptorError`, naming the fields."""
    parsed, problems = parse_json(data)
    if not problems:
        parsed, problems = copy_json(parsed)
        problems = problems or check_all(parsed, WorkerDescriptor)
    if problems:
        raise DescriptorError(problems, source=source)
    descriptor = msgspec.convert(parsed, WorkerDescriptor)
    problems = list(islice(_check_sense(descriptor), MOST_PROBLEMS))
    if problems:
        raise DescriptorError(problems, source=source)
    return descriptor


def _check_sense(descriptor: WorkerDescriptor) -> Iterator[Problem]:
    """What types alone do not say: names are unique, defaults are values their field accepts."""
    yield from _check_unique([algo.id for algo in descriptor.algorithms], ("algorithms",), "id")
    for index, algorithm in enumerate(descriptor.algorithms):
        path: Path = ("algorithms", index)
        names = [parameter.name for parameter in algorithm.parameters]
        yield from _check_unique(names, (*path, "parameters"), "name")
        for place, parameter in enumerate(algorithm.parameters):
            yield from check_parameter(parameter, (*path, "parameters", place))
        for family, values in algorithm.recommended.items():
            yield from check_values(values, algorithm.parameters, (*path, "recommended", family))


def _check_unique(names: Sequence[str], path: Path, field: str) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem((*path, index, field), "value", "is used twice.", "Give another one.")


@dataclass(frozen=True, slots=True)
class ResolvedParams:
    """Values for every parameter of an algorithm, and what is wrong with those that were given."""

    values: dict[str, Any]
    problems: list[Problem]


def validate_params(
    descriptor: WorkerDescriptor, algo: str | None, params: Mapping[str, Any]
) -> ResolvedParams:
    """Check `params` against the algorithm, and fill in the defaults of those not given."""
    given, problems = copy_json(dict(params), refuse_secrets=True)
    problems = [replace(problem, path=("params", *problem.path)) for problem in problems]
    algorithm = None if algo is None else descriptor.algorithm(algo)
    if algo is not None and algorithm is None:
        return ResolvedParams(given, [*problems, _unknown_algorithm(descriptor, algo)])
    parameters = algorithm.parameters if algorithm else ()
    seen = {problem.path for problem in problems}
    found = islice(check_values(given, parameters, ("params",)), MOST_PROBLEMS)
    problems += [problem for problem in found if problem.path not in seen]
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return ResolvedParams(defaults | given, problems)


def _unknown_algorithm(descriptor: WorkerDescriptor, algo: str) -> Problem:
    known = [algorithm.id for algorithm in descriptor.algorithms]
    meant = closest(algo, known)
    hint = f"Did you mean `{meant}`? " if meant else ""
    listing = ", ".join(f"`{name}`" for name in known) or "none"
    message = f"is no algorithm of `{descriptor.worker}`."
    return Problem(("algo",), "value", message, f"{hint}The worker has {listing}.")


work_out(WorkerDescriptor)
