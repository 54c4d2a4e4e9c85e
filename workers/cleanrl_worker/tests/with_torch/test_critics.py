"""Batched critics, and views of a network's weights."""

from __future__ import annotations

import unittest

import torch
from torch import nn

from cleanrl_worker.common.flat_adam import FlatAdam, TargetNetwork, share_frozen_weights
from cleanrl_worker.common.networks import ContinuousCritic


class CriticsTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(1)
        self.critics = ContinuousCritic(2, 5, hidden=8)
        self.seen, self.chosen = torch.randn(6, 3), torch.randn(6, 2)

    def test_the_critics_are_independent(self) -> None:
        """Their values are those of plain layers with the same weights."""
        values = self.critics(self.seen, self.chosen)
        for index in range(2):
            rows = torch.cat((self.seen, self.chosen), dim=1)
            for layer in range(3):
                weight, bias = self.critics.weights[layer], self.critics.biases[layer]
                rows = nn.functional.linear(rows, weight[index].T, bias[index, 0])
                rows = rows.relu() if layer < 2 else rows
            torch.testing.assert_close(values[index], rows[:, 0])
        torch.testing.assert_close(self.critics.q1_forward(self.seen, self.chosen), values[:1])

    def test_frozen_weights_follow_the_network(self) -> None:
        """Gradients reach the actions, and not the critics."""
        optimizer = FlatAdam(self.critics.parameters(), 0.1)
        judges = share_frozen_weights(self.critics)
        optimizer.minimize(self.critics(self.seen, self.chosen).square().sum())
        self.assertTrue(torch.equal(judges.weights[0], self.critics.weights[0]))
        optimizer.zero_grad()
        chosen = self.chosen.clone().requires_grad_()
        judges(self.seen, chosen).sum().backward()
        assert chosen.grad is not None
        self.assertTrue(chosen.grad.abs().sum() > 0)
        for parameter in self.critics.parameters():
            assert parameter.grad is not None
            self.assertEqual(float(parameter.grad.abs().sum()), 0.0)

    def test_a_target_network_moves_by_tau(self) -> None:
        """It starts as a copy and follows slowly."""
        optimizer = FlatAdam(self.critics.parameters(), 0.1)
        target_network = TargetNetwork(self.critics, optimizer)
        before = optimizer.flat.detach().clone()
        optimizer.minimize(self.critics(self.seen, self.chosen).square().sum())
        after = optimizer.flat.detach()
        for share in (0.0, 0.25):
            target_network.update(share)
            flat = torch.cat([each.reshape(-1) for each in target_network.network.parameters()])
            torch.testing.assert_close(flat, before + share * (after - before))


if __name__ == "__main__":
    unittest.main()
