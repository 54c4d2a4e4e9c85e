"""Checks of the configuration against the worker's descriptor."""

from collections.abc import Collection

from mosaic.contract.descriptor import validate_params
from mosaic.contract.problems import closest
from mosaic.envs.catalog import environment, environments
from mosaic.trainer.preflight.checks import Candidate, Items, blocking, join_names, ok, warning


def check_mode(candidate: Candidate) -> Items:
    mode, modes = candidate.config.mode, candidate.descriptor.modes
    if mode in modes:
        yield ok("mode", f"{candidate.worker} can {mode}.")
    else:
        yield blocking(
            "mode",
            f"{candidate.worker} cannot {mode}.",
            f"Choose another worker, or one of its modes: {join_names(modes)}.",
        )


def check_algorithm(candidate: Candidate) -> Items:
    config, algorithm = candidate.config, candidate.algorithm
    if algorithm is not None and config.script is not None:
        yield ok("algorithm", f"{candidate.worker} runs the script {config.script}.")
    elif algorithm is not None:
        yield ok("algorithm", f"{candidate.worker} has {algorithm.label or algorithm.id}.")
    elif config.algo is not None and config.script is None:
        known = [algorithm_info.id for algorithm_info in candidate.descriptor.algorithms]
        closest_id = closest(config.algo, known)
        hint = f"Did you mean `{closest_id}`? " if closest_id else ""
        yield blocking(
            "algorithm",
            f"`algo`: {candidate.worker} has no algorithm `{config.algo}`.",
            f"{hint}It has {join_names(known)}.",
        )
    elif config.script is not None:
        yield ok("algorithm", f"{candidate.worker} will look up the script {config.script}.")


def check_parameters(candidate: Candidate) -> Items:
    """One item for each invalid field."""
    algorithm, params = candidate.algorithm, candidate.config.params
    if algorithm is None and candidate.config.script is not None:
        return  # the worker finds the script, and validates them
    if algorithm is None and candidate.config.algo is not None:
        return  # cannot be validated, and the algorithm was reported already
    name = algorithm.id if algorithm else None
    problems = validate_params(candidate.descriptor, name, params).problems
    for problem in problems:
        yield blocking("parameters", problem.sentence, problem.remedy)
    if not problems and algorithm is not None:
        given = f"{len(params)} set, the others default" if params else "all default"
        yield ok("parameters", f"The parameters are valid: {given}.")


def check_environment(candidate: Candidate) -> Items:
    env_id, known = candidate.config.env_id, candidate.descriptor.environments
    yield from _check_family(candidate)
    yield from _check_actions(candidate)
    if known.any and is_misspelt(env_id):
        closest_id = closest(env_id, [entry.env_id for entry in environments()])
        yield warning(
            "environment",
            f"`env_id`: the catalog has no {env_id}.",
            f"Did you mean `{closest_id}`?",
        )
    elif known.any:
        yield ok("environment", f"{candidate.worker} supports any environment.")
    elif env_id in known.ids:
        yield ok("environment", f"{candidate.worker} supports {env_id}.")
    elif known.families:
        # Only the worker knows the family of an id; the dry run checks it.
        families = join_names(known.families)
        yield ok(
            "environment", f"{candidate.worker} supports environments of the families {families}."
        )
    elif known.ids:
        closest_id = closest(env_id, known.ids)
        hint = f"Did you mean `{closest_id}`? " if closest_id else ""
        yield blocking(
            "environment",
            f"`env_id`: {candidate.worker} does not support {env_id}.",
            f"{hint}It supports {_join_first(known.ids)}.",
        )
    else:
        yield warning(
            "environment",
            f"{candidate.worker} does not declare which environments it supports.",
            "Try the configuration with a dry run first.",
        )


def _check_actions(candidate: Candidate) -> Items:
    """Whether the algorithm supports the environment's action space, if both are known."""
    algorithm, entry = candidate.algorithm, environment(candidate.config.env_id)
    space = {"discrete": "discrete", "continuous": "box"}.get(entry.action_kind)
    if candidate.config.script is not None or algorithm is None or space is None:
        return
    if not algorithm.action_spaces or space in algorithm.action_spaces:
        return
    fitting = [
        algorithm_info.id
        for algorithm_info in candidate.descriptor.algorithms
        if space in algorithm_info.action_spaces
    ]
    yield blocking(
        "environment",
        f"`algo`: {algorithm.id} supports {join_names(algorithm.action_spaces)} actions, and those"
        f" of {entry.env_id} are {entry.action_kind}.",
        f"Choose {join_names(fitting)} for it." if fitting else "Choose another environment.",
    )


def _check_family(candidate: Candidate) -> Items:
    """Whether the algorithm supports the environment's family, if both are known."""
    algorithm, entry = candidate.algorithm, environment(candidate.config.env_id)
    if candidate.config.script is not None or algorithm is None or entry.is_generated:
        return
    if not algorithm.families or entry.family in algorithm.families:
        return
    fitting = [
        algorithm_info.id
        for algorithm_info in candidate.descriptor.algorithms
        if not algorithm_info.families or entry.family in algorithm_info.families
    ]
    yield blocking(
        "environment",
        f"`algo`: {algorithm.id} supports {join_names(algorithm.families)}, and {entry.env_id} is"
        f" {entry.family}.",
        f"Choose {_join_first(tuple(fitting))} for it."
        if fitting
        else "Choose another environment.",
    )


def is_misspelt(env_id: str) -> bool:
    """Whether it is close to an id of the catalog, but neither one nor an id of a package."""
    if ":" in env_id or not environment(env_id).is_generated:
        return False
    return closest(env_id, [entry.env_id for entry in environments()]) is not None


def check_starting_point(candidate: Candidate) -> Items:
    """A checkpoint or data set that would be ignored is an error; so is a missing one."""
    config, descriptor = candidate.config, candidate.descriptor
    if config.warm_start is not None and config.script is not None:
        yield blocking(
            "warm_start",
            "`warm_start`: a script cannot start from a checkpoint.",
            "Remove `warm_start`, or train with one of the worker's algorithms.",
        )
    elif config.warm_start is not None and not descriptor.supports.warm_start:
        yield blocking(
            "warm_start",
            f"`warm_start`: {candidate.worker} cannot start from a checkpoint.",
            "Remove `warm_start`, or choose a worker that supports it.",
        )
    elif config.warm_start is not None:
        yield ok("warm_start", f"Starts from checkpoint {config.warm_start}.")
    if config.dataset is not None and not descriptor.needs.dataset:
        yield blocking(
            "dataset",
            f"`dataset`: {candidate.worker} does not learn from data sets.",
            "Remove `dataset`, or choose a worker that uses one.",
        )
    elif config.dataset is not None:
        yield ok("dataset", f"Learns from the data set {config.dataset}.")
    elif descriptor.needs.dataset:
        yield blocking(
            "dataset",
            f"`dataset`: {candidate.worker} needs a data set.",
            "Set it; `mosaic datasets list` shows the available ones.",
        )


def check_launcher(candidate: Candidate, launchers: Collection[str]) -> Items:
    launcher = candidate.config.launcher
    if launcher not in launchers:
        yield blocking(
            "launcher",
            f"`launcher`: `{launcher}` is not available in this daemon.",
            f"Choose one of {join_names(sorted(launchers))}.",
        )


_MAX_NAMES = 8


def _join_first(names: tuple[str, ...]) -> str:
    more = len(names) - _MAX_NAMES
    return join_names(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
