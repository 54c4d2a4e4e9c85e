"""How on-policy agents see Atari: the published convolutions, with weights begun orthogonal."""

from __future__ import annotations

from torch import nn

from cleanrl_worker.learning.layers import orthogonal
from cleanrl_worker.learning.nature_network import FEATURES, PixelScale

_LAST_MAPS = 64 * 7 * 7


def picture_features(pictures: int) -> nn.Sequential:
    """From a stack of `pictures` of 84 x 84 bytes to `FEATURES` numbers."""
    return nn.Sequential(
        PixelScale(),
        orthogonal(nn.Conv2d(pictures, 32, 8, stride=4)),
        nn.ReLU(),
        orthogonal(nn.Conv2d(32, 64, 4, stride=2)),
        nn.ReLU(),
        orthogonal(nn.Conv2d(64, 64, 3, stride=1)),
        nn.ReLU(),
        nn.Flatten(),
        orthogonal(nn.Linear(_LAST_MAPS, FEATURES)),
        nn.ReLU(),
    )
