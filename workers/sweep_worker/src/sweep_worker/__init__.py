"""Searches hyperparameters: its trials are runs of other workers."""

__version__ = "0.1.0"
