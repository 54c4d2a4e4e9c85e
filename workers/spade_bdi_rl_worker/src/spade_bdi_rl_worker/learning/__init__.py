"""Tabular reinforcement learning: action values, methods, environments, and the learner."""
