"""Atari preprocessing of the published agents: 84 x 84 grayscale, the last four frames stacked."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from mosaic_worker.errors import WorkerError

STACKED_FRAMES = 4
_SCREEN_SIZE = 84
_FRAME_SKIP = 4
_NOOP_MAX = 30
_FIRE = 1


class EpisodicLife(gym.Wrapper):  # type: ignore[type-arg]
    """Ends an episode when a life is lost; the game continues at the next reset."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._lives = 0
        self._is_done = True

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._is_done = terminated or truncated
        lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        is_life_lost, self._lives = 0 < lives < self._lives, lives
        return observation, reward, terminated or is_life_lost, truncated, info

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        # A seed requests a new game, even in the middle of one.
        if not self._is_done and kwargs.get("seed") is None:
            observation, _, terminated, truncated, info = self.env.step(0)
            if not (terminated or truncated):
                self._lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
                return observation, info
        observation, info = self.env.reset(**kwargs)
        self._is_done = False
        self._lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        return observation, info


class FireReset(gym.Wrapper):  # type: ignore[type-arg]
    """Presses FIRE after a reset, for games that wait for it."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        _, info = self.env.reset(**kwargs)
        observation, _, terminated, truncated, step_info = self.env.step(_FIRE)
        if terminated or truncated:
            return self.env.reset(**{**kwargs, "seed": None})
        return observation, {**info, **step_info}


class FireOnLifeLoss(gym.Wrapper):  # type: ignore[type-arg]
    """Presses FIRE after each lost life, as `FireReset` does in training."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._lives = 0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        self._lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        is_life_lost, self._lives = 0 < lives < self._lives, lives
        if is_life_lost and not (terminated or truncated):
            observation, fire_reward, terminated, truncated, info = self.env.step(_FIRE)
            reward = float(reward) + float(fire_reward)
        return observation, reward, terminated, truncated, info


def make_kwargs(env_id: str) -> dict[str, Any]:
    """Return `gymnasium.make` arguments; ALE/ ids skip frames by default, without max-pooling."""
    return {"frameskip": 1} if env_id.startswith("ALE/") else {}


def wrap_for_training(env: Any) -> Any:
    """Preprocess, end an episode at a lost life, and clip rewards to -1, 0 or 1."""
    env = gym.wrappers.RecordEpisodeStatistics(_preprocess(env))
    env = EpisodicLife(env)
    if _has_fire(env):
        env = FireReset(env)
    env = gym.wrappers.TransformReward(env, lambda reward: float(np.sign(float(reward))))
    return gym.wrappers.FrameStackObservation(env, STACKED_FRAMES)


def wrap_for_playing(env: Any) -> Any:
    """Preprocess as in training, but with complete games and unclipped rewards."""
    env = _preprocess(env)
    if _has_fire(env):
        env = FireReset(FireOnLifeLoss(env))
    return gym.wrappers.FrameStackObservation(env, STACKED_FRAMES)


def _preprocess(env: Any) -> Any:
    if not hasattr(env.unwrapped, "ale"):
        raise WorkerError(
            f"{env.spec.id if env.spec else 'This environment'} is not an Atari game.",
            remedy="Choose an id such as BreakoutNoFrameskip-v4 or ALE/Pong-v5, or an algorithm"
            " without `atari` in its name.",
        )
    # The environment may already skip frames.
    has_own_skip = getattr(env.unwrapped, "_frameskip", 1) != 1
    return gym.wrappers.AtariPreprocessing(
        env,
        noop_max=_NOOP_MAX,
        frame_skip=1 if has_own_skip else _FRAME_SKIP,
        screen_size=_SCREEN_SIZE,
        grayscale_obs=True,
    )


def _has_fire(env: Any) -> bool:
    meanings = env.unwrapped.get_action_meanings()
    return len(meanings) > _FIRE and meanings[_FIRE] == "FIRE"
