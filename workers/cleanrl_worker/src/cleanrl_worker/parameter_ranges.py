"""What the names of learners' flags mean: which values make sense, and which are worth trying.

The same name means the same in every learner, so the ranges stand here once instead of in each.
"""

from __future__ import annotations

from typing import NamedTuple

OPTIMIZATION, ALGORITHM, EXPLORATION = (
    "Optimization",
    "Algorithm",
    "Exploration",
)
ENVIRONMENTS, OUTPUT, MACHINE = "Environments", "Output", "Machine"


class Range(NamedTuple):
    """Bounds of a flag, what a sweep tries, and where a form shows it."""

    group: str
    low: float | None = None
    high: float | None = None
    search: tuple[float, float] | None = None
    log: bool = False
    unit: str = ""


_RATE = Range(OPTIMIZATION, 0.0, 1.0, (1e-5, 1e-2), log=True)
_SHARE = Range(ALGORITHM, 0.0, 1.0)

RANGES: dict[str, Range] = {
    # Optimization
    "learning_rate": _RATE,
    "policy_lr": _RATE,
    "q_lr": _RATE,
    "actor_learning_rate": _RATE,
    "anneal_lr": Range(OPTIMIZATION),
    "max_grad_norm": Range(OPTIMIZATION, 0.0, None, (0.1, 20.0), log=True),
    "batch_size": Range(OPTIMIZATION, 1, None, (32, 512), log=True),
    "num_minibatches": Range(OPTIMIZATION, 1, None, (1, 64), log=True),
    "update_epochs": Range(OPTIMIZATION, 1, None, (1, 20)),
    "train_frequency": Range(OPTIMIZATION, 1, None, (1, 32), log=True, unit="steps"),
    "policy_frequency": Range(OPTIMIZATION, 1, None, unit="updates"),
    "update_frequency": Range(OPTIMIZATION, 1, None, unit="steps"),
    "target_network_frequency": Range(OPTIMIZATION, 1, None, (100, 5000), log=True, unit="steps"),
    "learning_starts": Range(OPTIMIZATION, 0, None, unit="steps"),
    "buffer_size": Range(OPTIMIZATION, 1, None, unit="steps"),
    # Algorithm
    "gamma": Range(ALGORITHM, 0.0, 1.0, (0.9, 0.9999)),
    "gae_lambda": Range(ALGORITHM, 0.0, 1.0, (0.8, 1.0)),
    "q_lambda": Range(ALGORITHM, 0.0, 1.0, (0.3, 1.0)),
    "tau": Range(ALGORITHM, 0.0, 1.0, (0.001, 1.0), log=True),
    "num_steps": Range(ALGORITHM, 1, None, (32, 2048), log=True, unit="steps"),
    "clip_coef": Range(ALGORITHM, 0.0, None, (0.05, 0.4)),
    "clip_vloss": Range(ALGORITHM),
    "norm_adv": Range(ALGORITHM),
    "ent_coef": Range(ALGORITHM, 0.0, None, (1e-8, 0.1), log=True),
    "vf_coef": Range(ALGORITHM, 0.0, None, (0.1, 1.0)),
    "target_kl": Range(ALGORITHM, 0.0),
    "alpha": Range(ALGORITHM, 0.0),
    "autotune": Range(ALGORITHM),
    "target_entropy_scale": Range(ALGORITHM, 0.0, 1.0, (0.3, 0.98)),
    "rpo_alpha": Range(ALGORITHM, 0.0, None, (0.01, 0.5), log=True),
    "n_atoms": Range(ALGORITHM, 2),
    "v_min": Range(ALGORITHM),
    "v_max": Range(ALGORITHM),
    "n_step": Range(ALGORITHM, 1, None, (1, 10)),
    "policy_noise": Range(ALGORITHM, 0.0),
    "noise_clip": Range(ALGORITHM, 0.0),
    "prioritized_replay_alpha": _SHARE,
    "prioritized_replay_beta": _SHARE,
    "prioritized_replay_eps": Range(ALGORITHM, 0.0),
    # Exploration
    "exploration_noise": Range(EXPLORATION, 0.0, None, (0.01, 0.5), log=True),
    "start_e": Range(EXPLORATION, 0.0, 1.0),
    "end_e": Range(EXPLORATION, 0.0, 1.0, (0.005, 0.2), log=True),
    "exploration_fraction": Range(EXPLORATION, 0.0, 1.0, (0.05, 0.8)),
    # Environments
    "num_envs": Range(ENVIRONMENTS, 1, 1024, (1, 32), log=True),
    # Output
    "save_model": Range(OUTPUT),
    "checkpoint_buffer_mb": Range(OUTPUT, 0, None, unit="MB"),
    "upload_model": Range(OUTPUT),
    "hf_entity": Range(OUTPUT),
    # Machine
    "torch_deterministic": Range(MACHINE),
    "torch_threads": Range(MACHINE, 0, 1024, unit="threads"),
}

UNKNOWN = Range(ALGORITHM)
