"""Atari games as the published agents see them: 84 x 84 grey pixels, the last four pictures."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from mosaic_worker.errors import WorkerError

PICTURES = 4
_SIDE = 84
_SKIP = 4
_MOST_NOOPS = 30
_FIRE = 1


class LifeEnds(gym.Wrapper):  # type: ignore[type-arg]
    """To the learner a lost life is an end; the game goes on at the next reset."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._lives = 0
        self._is_over = True

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._is_over = terminated or truncated
        lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        lost, self._lives = 0 < lives < self._lives, lives
        return observation, reward, terminated or lost, truncated, info

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        # A seed asks for a game of its own, whatever was going on.
        if not self._is_over and given.get("seed") is None:
            observation, _, terminated, truncated, info = self.env.step(0)
            if not (terminated or truncated):
                self._lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
                return observation, info
        observation, info = self.env.reset(**given)
        self._is_over = False
        self._lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        return observation, info


class FireToStart(gym.Wrapper):  # type: ignore[type-arg]
    """Presses the button that some games wait for."""

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        _, info = self.env.reset(**given)
        stepped, _, terminated, truncated, info_of_step = self.env.step(_FIRE)
        if terminated or truncated:
            return self.env.reset(**{**given, "seed": None})
        return stepped, {**info, **info_of_step}


class FireAfterLoss(gym.Wrapper):  # type: ignore[type-arg]
    """Presses that button after each lost life, too, as a learner's resets do."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._lives = 0

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**given)
        self._lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        lives = self.unwrapped.ale.lives()  # type: ignore[attr-defined]
        has_lost, self._lives = 0 < lives < self._lives, lives
        if has_lost and not (terminated or truncated):
            observation, more, terminated, truncated, info = self.env.step(_FIRE)
            reward = float(reward) + float(more)
        return observation, reward, terminated, truncated, info


def making_settings(env_id: str) -> dict[str, Any]:
    """Ids such as ALE/Pong-v5 skip frames themselves, without the maximum of two that flicker."""
    return {"frameskip": 1} if env_id.startswith("ALE/") else {}


def for_training(env: Any) -> Any:
    """What a learner trains on: lives end episodes, and a reward is -1, 0 or 1."""
    env = gym.wrappers.RecordEpisodeStatistics(_still_pictures(env, noops=_MOST_NOOPS))
    env = LifeEnds(env)
    if _waits_for_fire(env):
        env = FireToStart(env)
    env = gym.wrappers.TransformReward(env, lambda reward: float(np.sign(float(reward))))
    return gym.wrappers.FrameStackObservation(env, PICTURES)


def for_playing(env: Any) -> Any:
    """What a trained agent sees; whole games, and their own score."""
    env = _still_pictures(env, noops=_MOST_NOOPS)
    if _waits_for_fire(env):
        env = FireToStart(FireAfterLoss(env))
    return gym.wrappers.FrameStackObservation(env, PICTURES)


def _still_pictures(env: Any, *, noops: int) -> Any:
    if not hasattr(env.unwrapped, "ale"):
        raise WorkerError(
            f"{env.spec.id if env.spec else 'This environment'} is no Atari game.",
            remedy="Choose an id such as BreakoutNoFrameskip-v4 or ALE/Pong-v5, or an algorithm"
            " without `atari` in its name.",
        )
    # As settings of its own may have it.
    skips_itself = getattr(env.unwrapped, "_frameskip", 1) != 1
    return gym.wrappers.AtariPreprocessing(
        env,
        noop_max=noops,
        frame_skip=1 if skips_itself else _SKIP,
        screen_size=_SIDE,
        grayscale_obs=True,
    )


def _waits_for_fire(env: Any) -> bool:
    meanings = env.unwrapped.get_action_meanings()
    return len(meanings) > _FIRE and meanings[_FIRE] == "FIRE"
