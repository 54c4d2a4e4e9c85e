"""The page that a published model has on the Hugging Face hub."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mosaic_worker.tracking.event_file import hyperparameter_table

if TYPE_CHECKING:
    from cleanrl_worker.session.checkpoint_file import Checkpoint


def model_card(checkpoint: Checkpoint, repository: str) -> str:
    """Markdown, headed by what the hub sorts models by."""
    algo, env_id, mean_return = checkpoint.algo, checkpoint.env_id, checkpoint.mean_return
    head = [
        "---",
        "library_name: mosaic",
        "pipeline_tag: reinforcement-learning",
        "tags:",
        *(f"- {json.dumps(tag)}" for tag in (env_id, algo, "reinforcement-learning", "mosaic")),
        *_result(algo, env_id, mean_return),
        "---",
    ]
    reached = "no episode had ended yet"
    if mean_return is not None:
        reached = f"its last hundred training episodes had a mean return of {mean_return:.2f}"
    body = f"""
# {algo} on {env_id}

A policy for [{env_id}](https://gymnasium.farama.org), trained with the learner `{algo}` of MOSAIC's
CleanRL worker for {checkpoint.global_step:,} steps; {reached}.

`model.pt` holds the network's tensors, the spaces, the scaling of observations and all settings,
and no code: `torch.load("model.pt", weights_only=True)` reads it.
The steps that it had remembered were left out: it can be played with, and a training can begin from
it.

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
    return "\n".join(head) + "\n" + body


def _result(algo: str, env_id: str, mean_return: float | None) -> list[str]:
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
