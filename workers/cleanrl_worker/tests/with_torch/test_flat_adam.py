"""FlatAdam equals torch's Adam, and its state can be saved."""

from __future__ import annotations

import copy
import unittest

import torch
from torch import nn

from cleanrl_worker.common.flat_adam import FlatAdam
from cleanrl_worker.common.networks import tanh_mlp
from cleanrl_worker.common.numpy_mlp import NumpyMlp


def _network() -> nn.Sequential:
    torch.manual_seed(3)
    return tanh_mlp(3, 2, hidden=8)


def _loss(network: nn.Module, step: int) -> torch.Tensor:
    rows = torch.linspace(-1.0, 1.0 + step, 12).view(4, 3)
    loss: torch.Tensor = 10.0 * (network(rows) - 1.0).square().mean()
    return loss


class FlatAdamSteps(unittest.TestCase):
    def test_same_steps_as_torch(self) -> None:
        """Clipping and step agree with clip_grad_norm_ and torch.optim.Adam, with any rate."""
        theirs, ours = _network(), _network()
        adam = torch.optim.Adam(theirs.parameters(), lr=1e-2, eps=1e-5)
        flat = FlatAdam(ours.parameters(), 1e-2, eps=1e-5, max_grad_norm=0.5)
        for step in range(20):
            flat.lr = adam.param_groups[0]["lr"] = 1e-2 / (1 + step)
            adam.zero_grad()
            torch.autograd.backward(_loss(theirs, step))
            nn.utils.clip_grad_norm_(theirs.parameters(), 0.5)
            adam.step()
            flat.minimize(_loss(ours, step))
        for one, other in zip(theirs.parameters(), ours.parameters(), strict=True):
            torch.testing.assert_close(one, other)

    def test_parameters_are_views(self) -> None:
        """Weights that are loaded into the network are used by the next step."""
        network = _network()
        flat = FlatAdam(network.parameters(), 1e-3)
        network.load_state_dict({name: v + 1 for name, v in network.state_dict().items()})
        expected = torch.cat([param.detach().reshape(-1) for param in network.parameters()])
        torch.testing.assert_close(flat.flat, expected)

    def test_continues_from_its_state(self) -> None:
        """Saving and loading in between gives identical parameters."""
        uninterrupted, first = _network(), _network()
        flat = FlatAdam(uninterrupted.parameters(), 1e-2)
        half = FlatAdam(first.parameters(), 1e-2)
        for step in range(5):
            flat.minimize(_loss(uninterrupted, step))
            half.minimize(_loss(first, step))
        second = _network()
        second.load_state_dict(first.state_dict())
        resumed = FlatAdam(second.parameters(), 1e-2)
        resumed.load_state_dict(copy.deepcopy(half.state_dict()))
        for step in range(5, 10):
            flat.minimize(_loss(uninterrupted, step))
            resumed.minimize(_loss(second, step))
        self.assertTrue(torch.equal(flat.flat, resumed.flat))


class NumpyForward(unittest.TestCase):
    def test_matches_torch_after_updates(self) -> None:
        """The weights are the network's own, so updates are visible at once."""
        network = _network()
        optimizer = FlatAdam(network.parameters(), 1e-2)
        numpy_mlp = NumpyMlp(network)
        rows = torch.randn(5, 3)
        for step in range(3):
            with torch.no_grad():
                expected = network(rows)
            torch.testing.assert_close(torch.from_numpy(numpy_mlp(rows.numpy())), expected)
            optimizer.minimize(_loss(network, step))


if __name__ == "__main__":
    unittest.main()
