"""Batched critics, frozen copies and target networks."""

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
        self.observations, self.actions = torch.randn(6, 3), torch.randn(6, 2)

    def test_the_critics_are_independent(self) -> None:
        """Their values are those of plain layers with the same weights."""
        values = self.critics(self.observations, self.actions)
        for index in range(2):
            rows = torch.cat((self.observations, self.actions), dim=1)
            for layer in range(3):
                weight, bias = self.critics.weights[layer], self.critics.biases[layer]
                rows = nn.functional.linear(rows, weight[index].T, bias[index, 0])
                rows = rows.relu() if layer < 2 else rows
            torch.testing.assert_close(values[index], rows[:, 0])
        torch.testing.assert_close(
            self.critics.q1_forward(self.observations, self.actions), values[:1]
        )

    def test_frozen_weights_follow_the_network(self) -> None:
        """Gradients reach the actions, and not the critics."""
        optimizer = FlatAdam(self.critics.parameters(), 0.1)
        frozen = share_frozen_weights(self.critics)
        optimizer.minimize(self.critics(self.observations, self.actions).square().sum())
        self.assertTrue(torch.equal(frozen.weights[0], self.critics.weights[0]))
        optimizer.zero_grad()
        actions = self.actions.clone().requires_grad_()
        frozen(self.observations, actions).sum().backward()
        assert actions.grad is not None
        self.assertTrue(actions.grad.abs().sum() > 0)
        for parameter in self.critics.parameters():
            assert parameter.grad is not None
            self.assertEqual(float(parameter.grad.abs().sum()), 0.0)

    def test_a_target_network_moves_by_tau(self) -> None:
        """It starts as a copy and follows slowly."""
        optimizer = FlatAdam(self.critics.parameters(), 0.1)
        target_network = TargetNetwork(self.critics, optimizer)
        before = optimizer.flat.detach().clone()
        optimizer.minimize(self.critics(self.observations, self.actions).square().sum())
        after = optimizer.flat.detach()
        for tau in (0.0, 0.25):
            target_network.update(tau)
            flat = torch.cat([param.reshape(-1) for param in target_network.network.parameters()])
            torch.testing.assert_close(flat, before + tau * (after - before))


if __name__ == "__main__":
    unittest.main()
