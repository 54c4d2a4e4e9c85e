"""A trained policy on the Hugging Face hub: prepared in `hub`, and uploaded in bounded time.

Whatever happens, the training's result is what it is: a failure is a warning, with the command that
uploads the prepared folder later. The token is HF_TOKEN of the environment, and nothing else.
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

from cleanrl_worker.session.checkpoint_file import read_checkpoint, write_checkpoint
from cleanrl_worker.session.checkpoint_keeper import BEST, LAST
from cleanrl_worker.tracking import hub_process
from cleanrl_worker.tracking.model_card import model_card
from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

    from cleanrl_worker.arguments import SharedArgs
    from cleanrl_worker.session.outlet import Outlet

TOKEN_VARIABLE = "HF_TOKEN"  # noqa: S105 - its name
UPLOAD_SECONDS = 120.0
_FOLDER = "hub"
_LONGEST_NAME = 96


def upload_model(outlet: Outlet, args: SharedArgs, algo: str, run_name: str) -> None:
    """The best checkpoint, or the last where no episode has ended. Raises nothing."""
    name = repository_name(args.env_id, algo, args.seed)
    repository = f"{args.hf_entity or 'YOUR-NAME'}/{name}"
    folder = outlet.directory / _FOLDER / run_name
    try:
        _prepare(outlet.directory / "checkpoints", folder, repository)
    except (OSError, WorkerError) as error:
        outlet.say("warning", f"There is nothing to upload to the Hugging Face hub: {error}")
        return
    reason = _why_not(args, outlet)
    url = ""
    if not reason:
        url, reason = _upload(outlet, repository, folder)
    if reason:
        outlet.say(
            "warning",
            f"The model was not uploaded to the Hugging Face hub, because {reason}. Upload it"
            f" with `hf upload {repository} {folder} .`.",
        )
    else:
        outlet.say("info", f"The model is on the Hugging Face hub: {url}")
        outlet.link("report", url, {"repository": repository})


def repository_name(env_id: str, algo: str, seed: int) -> str:
    """`<env>-<algo>-seed<seed>`, of the letters that the hub allows."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{env_id}-{algo}-seed{seed}")
    return re.sub(r"([-.])[-.]+", r"\1", name).strip("-.")[-_LONGEST_NAME:]


def _prepare(checkpoints: Path, folder: Path, repository: str) -> None:
    best = checkpoints / BEST
    checkpoint = read_checkpoint(best if best.exists() else checkpoints / LAST)
    folder.mkdir(parents=True, exist_ok=True)
    # A training that begins from the model needs the networks in it, but not the remembered steps.
    training = {name: each for name, each in checkpoint.training.items() if name != "buffer"}
    published = dataclasses.replace(checkpoint, training=training, random={}, environments=[])
    write_checkpoint(published, folder / "model.pt")
    card = model_card(checkpoint, repository)
    (folder / "README.md").write_text(card, encoding="utf-8")


def _why_not(args: SharedArgs, outlet: Outlet) -> str:
    """Empty when an upload can be tried."""
    if not args.hf_entity:
        return "`hf_entity` does not say whose it is to be"
    if importlib.util.find_spec("huggingface_hub") is None:
        return (
            "the package `huggingface_hub` is missing: install the extra `hub` of the bundle"
            " cleanrl_worker (`mosaic train … --extra hub`)"
        )
    if not os.environ.get(TOKEN_VARIABLE):
        return f"there is no {TOKEN_VARIABLE} in the environment"
    return "the run was stopped" if outlet.should_stop else ""


def _upload(outlet: Outlet, repository: str, folder: Path) -> tuple[str, str]:
    """Its address, or why there is none."""
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
    began = time.monotonic()
    while True:
        try:
            said, _ = process.communicate(timeout=0.2)
        except subprocess.TimeoutExpired:
            if not outlet.should_stop and time.monotonic() - began < UPLOAD_SECONDS:
                continue
            process.kill()
            process.communicate()
            if outlet.should_stop:
                return "", "the run was stopped"
            return "", f"it took longer than {UPLOAD_SECONDS:.0f} s"
        return _outcome(said)


def _outcome(said: str) -> tuple[str, str]:
    try:
        answer = json.loads(said)
    except ValueError:
        return "", "the upload ended without a word; the run's log has more"
    error = str(answer.get("error", "")).rstrip(".")
    token = os.environ.get(TOKEN_VARIABLE)
    return str(answer.get("url", "")), error.replace(token, "[token]") if token else error
