"""Logs scalars to TensorBoard and Weights & Biases, as the run's `artifacts` request.

Most workers need only `run.track(values, step)`. Neither package is imported here: event files are
written with the standard library, and wandb runs in a separate process.
"""
