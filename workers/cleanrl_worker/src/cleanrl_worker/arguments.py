"""The flags that every learner has, under CleanRL's names. Each learner's `Args` adds its own.

A field's doc string is its help, on the command line and in forms: both read it from here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class SharedArgs:
    """Flags of every learner."""

    exp_name: str = ""
    """the name of this experiment; empty: the algorithm's"""
    seed: int = 1
    """seed of the experiment"""
    torch_deterministic: bool = True
    """choose algorithms of the GPU that give the same result each time"""
    torch_threads: int = 0
    """threads of a matrix product; 0: one for small networks, all granted ones for large"""
    cuda: bool = True
    """use a GPU when there is one"""
    track: bool = False
    """track this experiment with Weights & Biases"""
    wandb_project_name: str = "mosaic"
    """the project it is tracked in"""
    wandb_entity: str | None = None
    """whose project that is"""
    capture_video: bool = False
    """save videos of some episodes in `videos`"""
    save_model: bool = True
    """save the model at the end in `checkpoints`"""
    checkpoint_every: int = 0
    """steps between two checkpoints; 0: at the end only"""
    checkpoint_buffer_mb: int = 256
    """the largest replay buffer that is saved; resuming without it fills a new one"""
    resume: str = ""
    """go on from this checkpoint, as if never interrupted"""
    warm_start: str = ""
    """begin with the network of this checkpoint"""
    upload_model: bool = False
    """upload the saved model to the Hugging Face hub"""
    hf_entity: str = ""
    """the user or organisation on the Hugging Face hub"""

    env_id: str = "CartPole-v1"
    """the id of the environment"""
    total_timesteps: int = 500_000
    """steps of the experiment, over all environments"""
    num_envs: int = 1
    """environments that are stepped together"""
