"""A run's figures for TensorBoard and Weights & Biases, as its `artifacts` ask for.

Most workers need only `run.track(values, step)`. Neither package is imported here: event files are
written with the standard library alone, and wandb runs in a process of its own.
"""
