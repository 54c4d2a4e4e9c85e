"""Counts instead of learning: what checkpoints, evaluation, resuming and scripts consist of."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

from mosaic_worker import Algorithm, Descriptor, Environments, Parameter, Run, Supports, main
from mosaic_worker.errors import WorkerError

DESCRIPTOR = Descriptor(
    worker="apprentice_worker",
    label="Apprentice Worker",
    version="1.0",
    summary="Counts as it goes.",
    lane="analytics",
    modes=("train", "evaluate"),
    algorithms=(
        Algorithm(
            "count",
            "Count",
            parameters=(
                Parameter("steps", "int", 10, min=1, help="How far.", search=(1, 100), log=True),
                Parameter("fail_at", "int", None, help="Breaks down at this step."),
            ),
        ),
        Algorithm("rest", "Rest"),
    ),
    environments=Environments(any=True),
    supports=Supports(policy_load=True, warm_start=True, resume=True, checkpoints=True),
)

_TYPES = {"int": "int", "float": "float", "bool": "bool", "str": "str"}


def describe_script(script: str) -> Algorithm:
    """The fields of its class `Args`, read without running it."""
    path = Path(script)
    if not path.is_file():
        raise WorkerError(f"{script} is not known.", remedy="Give the path of a file.")
    try:
        tree = ast.parse(path.read_text())
    except SyntaxError as error:
        raise WorkerError(f"{script} is no Python: {error.msg}.", remedy="Correct it.") from error
    fields = [
        field
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "Args"
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    ]
    parameters = tuple(
        Parameter(
            ast.unparse(field.target), _TYPES[ast.unparse(field.annotation)],
            ast.literal_eval(field.value) if field.value else None,
        )
        for field in fields
    )  # fmt: skip
    return Algorithm(path.stem, path.stem, parameters=parameters)


def work(run: Run) -> None:
    if run.config.mode == "evaluate":
        evaluate(run)
    elif run.config.raw.get("script"):
        run.save_checkpoint("model.json", b"1", step=1, source="script")
        if run.config.params.get("breaks"):
            raise WorkerError("The script broke down.", remedy="Begin again.")
    elif run.config.algo == "count":
        count(run)


def count(run: Run) -> None:
    resumes = bool(run.config.raw["metadata"].get("resume")) and run.checkpoint is not None
    first = json.loads(run.checkpoint.read_bytes()) if resumes and run.checkpoint else 0
    params = run.config.params
    for step in range(first + 1, params["steps"] + 1):
        if step == params["fail_at"]:
            raise WorkerError(f"It broke down at {step}.", remedy="Begin again.")
        run.emitter.metric("counted", step, step=step)
        run.save_checkpoint("last.json", json.dumps(step).encode(), step=step)


def evaluate(run: Run) -> None:
    if run.checkpoint is None:
        raise WorkerError("No policy was named.", remedy="Name a checkpoint as the actor.")
    reached = json.loads(run.checkpoint.read_bytes())
    for number in range(run.config.raw["episodes"] or 10):
        run.emitter.episode(
            f"e{number}", reached, float(reached), terminated=True, success=number % 2 == 0
        )


sys.exit(main(DESCRIPTOR, work, describe_script=describe_script))
