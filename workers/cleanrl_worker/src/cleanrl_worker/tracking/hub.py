"""Uploads a trained policy with a model card to the Hugging Face hub, in bounded time.

A failure does not change the outcome of the training: it is a warning with the command that
uploads the prepared folder `hub` later. The token is the environment variable HF_TOKEN.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from cleanrl_worker.session.checkpoint import read_checkpoint, write_checkpoint
from cleanrl_worker.session.checkpoint_manager import BEST, LAST
from cleanrl_worker.tracking import hub_process
from mosaic_worker.errors import WorkerError
from mosaic_worker.tracking.event_file import hyperparameter_table

if TYPE_CHECKING:
    from pathlib import Path

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.sink import RunSink

TOKEN_VARIABLE = "HF_TOKEN"  # noqa: S105 - its name
UPLOAD_TIMEOUT_S = 120.0
_FOLDER = "hub"
_MAX_NAME_LENGTH = 96


def upload_model(sink: RunSink, args: SharedArgs, algo: str, run_name: str) -> None:
    """Upload the best checkpoint, or the last if no episode has ended. Never raises."""
    name = repository_name(args.env_id, algo, args.seed)
    repository = f"{args.hf_entity or 'YOUR-NAME'}/{name}"
    folder = sink.directory / _FOLDER / run_name
    try:
        _prepare(sink.directory / "checkpoints", folder, repository)
    except (OSError, WorkerError) as error:
        sink.log_message("warning", f"No model to upload to the Hugging Face hub: {error}")
        return
    reason = _find_upload_problem(args, sink)
    url = ""
    if not reason:
        url, reason = _upload(sink, repository, folder)
    if reason:
        sink.log_message(
            "warning",
            f"The model was not uploaded to the Hugging Face hub, because {reason}. Upload it"
            f" with `hf upload {repository} {folder} .`.",
        )
    else:
        sink.log_message("info", f"The model is on the Hugging Face hub: {url}")
        sink.link("report", url, {"repository": repository})


def repository_name(env_id: str, algo: str, seed: int) -> str:
    """Return `<env>-<algo>-seed<seed>` with the characters that the hub allows."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{env_id}-{algo}-seed{seed}")
    return re.sub(r"([-.])[-.]+", r"\1", name).strip("-.")[-_MAX_NAME_LENGTH:]


def _prepare(checkpoints: Path, folder: Path, repository: str) -> None:
    best = checkpoints / BEST
    checkpoint = read_checkpoint(best if best.exists() else checkpoints / LAST)
    folder.mkdir(parents=True, exist_ok=True)
    # A warm start needs the networks in `training`, but not the replay buffer.
    training = {name: state for name, state in checkpoint.training.items() if name != "buffer"}
    published = dataclasses.replace(checkpoint, training=training, random={}, environments=[])
    write_checkpoint(published, folder / "model.pt")
    card = model_card(checkpoint, repository)
    (folder / "README.md").write_text(card, encoding="utf-8")


def _find_upload_problem(args: SharedArgs, sink: RunSink) -> str:
    """Return why an upload is not possible; empty if it is."""
    if not args.hf_entity:
        return "`hf_entity`, the user or organisation, is not set"
    if importlib.util.find_spec("huggingface_hub") is None:
        return (
            "the package `huggingface_hub` is missing: install the extra `hub` of the bundle"
            " cleanrl_worker (`mosaic train … --extra hub`)"
        )
    if not os.environ.get(TOKEN_VARIABLE):
        return f"the environment variable {TOKEN_VARIABLE} is not set"
    return "the run was stopped" if sink.should_stop else ""


def _upload(sink: RunSink, repository: str, folder: Path) -> tuple[str, str]:
    """Return the URL, and the reason of a failure; one of them is empty."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", hub_process.__name__, repository, str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
    )
    started = time.monotonic()
    while True:
        try:
            output, _ = process.communicate(timeout=0.2)
        except subprocess.TimeoutExpired:
            if not sink.should_stop and time.monotonic() - started < UPLOAD_TIMEOUT_S:
                continue
            process.kill()
            process.communicate()
            if sink.should_stop:
                return "", "the run was stopped"
            return "", f"it took longer than {UPLOAD_TIMEOUT_S:.0f} s"
        return _parse_result(output)


def _parse_result(output: str) -> tuple[str, str]:
    try:
        result = json.loads(output)
    except ValueError:
        return "", "the upload process printed no result; see the run's log"
    error = str(result.get("error", "")).rstrip(".")
    token = os.environ.get(TOKEN_VARIABLE)
    return str(result.get("url", "")), error.replace(token, "[token]") if token else error


def model_card(checkpoint: TrainingCheckpoint, repository: str) -> str:
    """Return the hub's page of the model: Markdown with the metadata that the hub indexes."""
    algo, env_id, mean_return = checkpoint.algo, checkpoint.env_id, checkpoint.mean_return
    metadata = [
        "---",
        "library_name: mosaic",
        "pipeline_tag: reinforcement-learning",
        "tags:",
        *(f"- {json.dumps(tag)}" for tag in (env_id, algo, "reinforcement-learning", "mosaic")),
        *_model_index(algo, env_id, mean_return),
        "---",
    ]
    result = "no episode had ended yet"
    if mean_return is not None:
        result = f"its last hundred training episodes had a mean return of {mean_return:.2f}"
    body = f"""
# {algo} on {env_id}

A policy for [{env_id}](https://gymnasium.farama.org), trained with the learner `{algo}` of MOSAIC's
CleanRL worker for {checkpoint.global_step:,} steps; {result}.

`model.pt` contains the network's tensors, the spaces, the observation normalization and all
settings, but no code: load it with `torch.load("model.pt", weights_only=True)`.
The replay buffer is not included: the policy can be played, or used as a warm start.

## Use it

```
hf download {repository} model.pt --local-dir .
mosaic checkpoints import model.pt --worker cleanrl_worker --env {env_id} --algo {algo}
mosaic evaluate CHECKPOINT --episodes 10
```

## Train it again

```
mosaic train cleanrl_worker --algo {algo} --env {env_id} --seed {checkpoint.args.get("seed", 1)}
```

## Settings

{hyperparameter_table(checkpoint.args)}
"""
    return "\n".join(metadata) + "\n" + body


def _model_index(algo: str, env_id: str, mean_return: float | None) -> list[str]:
    if mean_return is None:
        return []
    return [
        "model-index:",
        f"- name: {json.dumps(algo)}",
        "  results:",
        "  - task:",
        "      type: reinforcement-learning",
        "      name: reinforcement-learning",
        "    dataset:",
        f"      name: {json.dumps(env_id)}",
        f"      type: {json.dumps(env_id)}",
        "    metrics:",
        "    - type: mean_reward",
        f"      value: {mean_return:.4f}",
        "      name: mean_reward",
        "      verified: false",
    ]
