"""Whether the worker can do what the configuration asks of it, by its own descriptor."""

from collections.abc import Collection

from mosaic.contract.descriptor import validate_params
from mosaic.contract.problems import closest
from mosaic.envs.catalog import environment, environments
from mosaic.trainer.preflight.checks import Candidate, Items, blocking, listing, ok, warning


def check_mode(candidate: Candidate) -> Items:
    mode, modes = candidate.config.mode, candidate.descriptor.modes
    if mode in modes:
        yield ok("mode", f"{candidate.worker} can {mode}.")
    else:
        yield blocking(
            "mode",
            f"{candidate.worker} cannot {mode}.",
            f"Choose another worker, or one of its modes: {listing(modes)}.",
        )


def check_algorithm(candidate: Candidate) -> Items:
    config, algorithm = candidate.config, candidate.algorithm
    if algorithm is not None and config.script is not None:
        yield ok("algorithm", f"{candidate.worker} runs the script {config.script}.")
    elif algorithm is not None:
        yield ok("algorithm", f"{candidate.worker} has {algorithm.label or algorithm.id}.")
    elif config.algo is not None and config.script is None:
        known = [each.id for each in candidate.descriptor.algorithms]
        meant = closest(config.algo, known)
        hint = f"Did you mean `{meant}`? " if meant else ""
        yield blocking(
            "algorithm",
            f"`algo`: {candidate.worker} has no algorithm `{config.algo}`.",
            f"{hint}It has {listing(known)}.",
        )
    elif config.script is not None:
        yield ok("algorithm", f"{candidate.worker} looks for the script {config.script} itself.")


def check_parameters(candidate: Candidate) -> Items:
    """Each wrong field by its name."""
    algorithm, params = candidate.algorithm, candidate.config.params
    if algorithm is None and candidate.config.script is not None:
        return  # the worker finds the script, and judges them
    if algorithm is None and candidate.config.algo is not None:
        return  # nothing to judge them by, and that is said already
    name = algorithm.id if algorithm else None
    problems = validate_params(candidate.descriptor, name, params).problems
    for problem in problems:
        yield blocking("parameters", problem.sentence, problem.remedy)
    if not problems and algorithm is not None:
        given = f"{len(params)} set, the others by default" if params else "all by default"
        yield ok("parameters", f"The parameters are in order: {given}.")


def check_environment(candidate: Candidate) -> Items:
    env_id, known = candidate.config.env_id, candidate.descriptor.environments
    yield from _check_family(candidate)
    yield from _check_actions(candidate)
    if known.any and is_misspelt(env_id):
        meant = closest(env_id, [entry.env_id for entry in environments()])
        yield warning(
            "environment", f"`env_id`: the catalog has no {env_id}.", f"Did you mean `{meant}`?"
        )
    elif known.any:
        yield ok("environment", f"{candidate.worker} takes any environment.")
    elif env_id in known.ids:
        yield ok("environment", f"{candidate.worker} knows {env_id}.")
    elif known.families:
        # Which family an id belongs to is the worker's to say; the dry run asks it.
        families = listing(known.families)
        yield ok(
            "environment", f"{candidate.worker} takes environments of the families {families}."
        )
    elif known.ids:
        meant = closest(env_id, known.ids)
        hint = f"Did you mean `{meant}`? " if meant else ""
        yield blocking(
            "environment",
            f"`env_id`: {candidate.worker} does not know {env_id}.",
            f"{hint}It knows {_first(known.ids)}.",
        )
    else:
        yield warning(
            "environment",
            f"{candidate.worker} does not say which environments it knows.",
            "Try the configuration with a dry run first.",
        )


def _check_actions(candidate: Candidate) -> Items:
    """Whether the algorithm can choose what the environment wants, as far as both are known."""
    algorithm, entry = candidate.algorithm, environment(candidate.config.env_id)
    wanted = {"discrete": "discrete", "continuous": "box"}.get(entry.action_kind)
    if candidate.config.script is not None or algorithm is None or wanted is None:
        return
    if not algorithm.action_spaces or wanted in algorithm.action_spaces:
        return
    fitting = [each.id for each in candidate.descriptor.algorithms if wanted in each.action_spaces]
    yield blocking(
        "environment",
        f"`algo`: {algorithm.id} chooses {listing(algorithm.action_spaces)} actions, and those of"
        f" {entry.env_id} are {entry.action_kind}.",
        f"Choose {listing(fitting)} for it." if fitting else "Choose another environment.",
    )


def _check_family(candidate: Candidate) -> Items:
    """Whether the algorithm is made for such environments, as far as both are known."""
    algorithm, entry = candidate.algorithm, environment(candidate.config.env_id)
    if candidate.config.script is not None or algorithm is None or entry.is_generated:
        return
    if not algorithm.families or entry.family in algorithm.families:
        return
    fitting = [
        each.id
        for each in candidate.descriptor.algorithms
        if not each.families or entry.family in each.families
    ]
    yield blocking(
        "environment",
        f"`algo`: {algorithm.id} is made for {listing(algorithm.families)}, and {entry.env_id} is"
        f" {entry.family}.",
        f"Choose {_first(tuple(fitting))} for it." if fitting else "Choose another environment.",
    )


def is_misspelt(env_id: str) -> bool:
    """Whether it is close to an id of the catalog, without being one or another's of a package."""
    if ":" in env_id or not environment(env_id).is_generated:
        return False
    return closest(env_id, [entry.env_id for entry in environments()]) is not None


def check_starting_point(candidate: Candidate) -> Items:
    """A checkpoint or data set that would silently be ignored blocks; so does a missing one."""
    config, descriptor = candidate.config, candidate.descriptor
    if config.warm_start is not None and config.script is not None:
        yield blocking(
            "warm_start",
            "`warm_start`: a script trains from its own beginning, never from a checkpoint.",
            "Remove `warm_start` to start it anew, or train with one of the worker's algorithms.",
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
            f"`dataset`: {candidate.worker} needs a data set, and none is named.",
            "Name one; `mosaic datasets list` shows them.",
        )


def check_launcher(candidate: Candidate, launchers: Collection[str]) -> Items:
    launcher = candidate.config.launcher
    if launcher not in launchers:
        yield blocking(
            "launcher",
            f"`launcher`: `{launcher}` is not available in this daemon.",
            f"Choose one of {listing(sorted(launchers))}.",
        )


_SHOWN = 8


def _first(names: tuple[str, ...]) -> str:
    more = len(names) - _SHOWN
    return listing(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
