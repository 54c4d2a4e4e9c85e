"""The convolutions that the published Atari agents see 84 x 84 pictures with."""

from __future__ import annotations

import torch
from torch import nn

FEATURES = 512
_PIXEL_MAX = 255.0
_LAST_MAPS = 64 * 7 * 7


class PixelScale(nn.Module):
    """Bytes to numbers from 0 to 1."""

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        # On a processor, convolutions are half as fast again in this layout.
        numbers = pictures.to(torch.float32, memory_format=torch.channels_last)
        return numbers / _PIXEL_MAX


def nature_network(pictures: int, outputs: int) -> nn.Sequential:
    """From a stack of `pictures` to `outputs` numbers."""
    return nn.Sequential(
        PixelScale(),
        nn.Conv2d(pictures, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, stride=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(_LAST_MAPS, FEATURES),
        nn.ReLU(),
        nn.Linear(FEATURES, outputs),
    )
