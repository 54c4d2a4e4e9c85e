"""Distributions over a fixed set of evenly spaced returns: what distributional learners predict."""

from __future__ import annotations

import torch


def share_out(
    probabilities: torch.Tensor, returns: torch.Tensor, atoms: torch.Tensor
) -> torch.Tensor:
    """The distribution over `atoms` that comes nearest to `returns` with their `probabilities`.

    All have the atoms as last axis. A return between two atoms is shared between them, so that the
    mean stays; one beyond the ends goes to the end.
    """
    count = len(atoms)
    places = (returns.clamp(atoms[0], atoms[-1]) - atoms[0]) / (atoms[1] - atoms[0])
    below = places.floor().clamp(0, count - 1)
    share_above = places - below
    below_index = below.long()
    above_index = (below_index + 1).clamp(max=count - 1)
    shared = torch.zeros_like(probabilities)
    shared.scatter_add_(-1, below_index, probabilities * (1.0 - share_above))
    shared.scatter_add_(-1, above_index, probabilities * share_above)
    return shared
