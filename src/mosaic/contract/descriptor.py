"""The worker descriptor: what `--describe` prints, and what forms and options are built from.

A capability that the descriptor does not declare is unsupported. Unknown fields are ignored, so a
worker may be newer than the workbench.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import copy_json, parse_json
from mosaic.contract.parameters import Parameter, check_parameter, check_values
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.problems import MAX_PROBLEMS, DocumentError, Path, Problem, closest
from mosaic.contract.run_config import Mode, StepDetail
from mosaic.contract.text_types import Identifier, LongText, ShortText
from mosaic.contract.validation import check_all


class DescriptorError(DocumentError):
    """A worker's descriptor is invalid."""

    document = "worker descriptor"
    default_code = "C141"


class Algorithm(msgspec.Struct, kw_only=True, frozen=True):
    """One algorithm of the worker."""

    id: Identifier
    label: ShortText = ""
    doc: LongText = ""
    parameters: tuple[Parameter, ...] = ()
    action_spaces: Annotated[
        tuple[ShortText, ...],
        Meta(description="Supported action spaces, such as `discrete` and `box`; empty: any."),
    ] = ()
    families: Annotated[
        tuple[ShortText, ...],
        Meta(description="Supported environment families; empty: all that the worker supports."),
    ] = ()
    gpu: Literal["none", "optional", "required"] = "none"
    recommended: Annotated[
        dict[str, dict[str, Any]], Meta(description="Recommended values per environment family.")
    ] = {}
    page: Annotated[LongText, Meta(description="Long help text, in Markdown.")] = ""


class Environments(msgspec.Struct, kw_only=True, frozen=True):
    """Environments that the worker supports: families, ids, or any id."""

    families: tuple[ShortText, ...] = ()
    any: bool = False
    ids: tuple[ShortText, ...] = ()


class WorkerCapabilities(msgspec.Struct, kw_only=True, frozen=True):
    """Optional features that the worker supports."""

    policy_load: bool = False
    warm_start: bool = False
    resume: bool = False
    pause: bool = False
    checkpoints: bool = False
    minimal_telemetry: bool = False
    scripts: Annotated[
        bool, Meta(description="Runs external scripts, given as a run's `script`.")
    ] = False


class Needs(msgspec.Struct, kw_only=True, frozen=True):
    """Requirements of the worker."""

    bundle: Identifier | None = None
    extras: tuple[Identifier, ...] = ()
    services: Annotated[
        tuple[ShortText, ...], Meta(description="Required services, such as `xmpp`.")
    ] = ()
    network: bool = False
    credentials: Annotated[
        tuple[ShortText, ...],
        Meta(description="Names of required environment variables, never values."),
    ] = ()
    dataset: bool = False


class WorkerDescriptor(msgspec.Struct, kw_only=True, frozen=True):
    """A worker as it describes itself."""

    worker: Identifier
    label: ShortText = ""
    version: ShortText = ""
    summary: LongText = ""
    lane: Literal["telemetry", "analytics", "hybrid"] = "telemetry"
    modes: tuple[Mode, ...] = ()
    algorithms: tuple[Algorithm, ...] = ()
    environments: Environments = Environments()
    supports: WorkerCapabilities = WorkerCapabilities()
    needs: Needs = Needs()
    tabs: Annotated[tuple[ShortText, ...], Meta(description="Kinds of additional tabs.")] = ()
    licence: Annotated[tuple[LongText, ...], Meta(description="Licence notes.")] = ()

    def step_detail(self, mode: Mode, requested: StepDetail) -> StepDetail:
        """Resolve `auto` to the detail that suits the worker's lane and the mode."""
        if requested != "auto":
            return requested
        return "off" if mode == "train" and self.lane == "analytics" else "all"

    def algorithm(self, algorithm_id: str) -> Algorithm | None:
        """Return the algorithm with that id."""
        return next((algo for algo in self.algorithms if algo.id == algorithm_id), None)


def decode_descriptor(data: bytes, source: str = "") -> WorkerDescriptor:
    """Decode a descriptor. Raises `DescriptorError` with every invalid field."""
    parsed, problems = parse_json(data)
    if not problems:
        parsed, problems = copy_json(parsed)
        problems = problems or check_all(parsed, WorkerDescriptor)
    if problems:
        raise DescriptorError(problems, source=source)
    descriptor = msgspec.convert(parsed, WorkerDescriptor)
    problems = list(islice(_check_consistency(descriptor), MAX_PROBLEMS))
    if problems:
        raise DescriptorError(problems, source=source)
    return descriptor


def _check_consistency(descriptor: WorkerDescriptor) -> Iterator[Problem]:
    """Check what types cannot express: unique names, and defaults that their field accepts."""
    yield from _check_unique([algo.id for algo in descriptor.algorithms], ("algorithms",), "id")
    for index, algorithm in enumerate(descriptor.algorithms):
        path: Path = ("algorithms", index)
        names = [parameter.name for parameter in algorithm.parameters]
        yield from _check_unique(names, (*path, "parameters"), "name")
        for number, parameter in enumerate(algorithm.parameters):
            yield from check_parameter(parameter, (*path, "parameters", number))
        for family, values in algorithm.recommended.items():
            yield from check_values(values, algorithm.parameters, (*path, "recommended", family))


def _check_unique(names: Sequence[str], path: Path, field: str) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem((*path, index, field), "value", "is used twice.", "Use a unique one.")


@dataclass(frozen=True, slots=True)
class ResolvedParams:
    """Values of all parameters of an algorithm, and the problems of those that were given."""

    values: dict[str, Any]
    problems: list[Problem]


def validate_params(
    descriptor: WorkerDescriptor, algo: str | None, params: Mapping[str, Any]
) -> ResolvedParams:
    """Check `params` against the algorithm and fill in the defaults of missing ones."""
    given, problems = copy_json(dict(params), reject_secrets=True)
    problems = [replace(problem, path=("params", *problem.path)) for problem in problems]
    algorithm = None if algo is None else descriptor.algorithm(algo)
    if algo is not None and algorithm is None:
        return ResolvedParams(given, [*problems, _unknown_algorithm(descriptor, algo)])
    parameters = algorithm.parameters if algorithm else ()
    seen = {problem.path for problem in problems}
    invalid = islice(check_values(given, parameters, ("params",)), MAX_PROBLEMS)
    problems += [problem for problem in invalid if problem.path not in seen]
    defaults = {parameter.name: parameter.default for parameter in parameters}
    return ResolvedParams(defaults | given, problems)


def _unknown_algorithm(descriptor: WorkerDescriptor, algo: str) -> Problem:
    known = [algorithm.id for algorithm in descriptor.algorithms]
    suggestion = closest(algo, known)
    hint = f"Did you mean `{suggestion}`? " if suggestion else ""
    listing = ", ".join(f"`{name}`" for name in known) or "none"
    message = f"is not an algorithm of `{descriptor.worker}`."
    return Problem(("algo",), "value", message, f"{hint}Available: {listing}.")


prebuild_decoders(WorkerDescriptor)
