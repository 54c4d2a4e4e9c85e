"""Sweeps: search spaces, configurations and the results of Optuna studies."""
