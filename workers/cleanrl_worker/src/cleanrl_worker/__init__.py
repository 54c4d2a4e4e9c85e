"""Trains with single-file learners in CleanRL's spirit, and runs CleanRL's own scripts."""

__version__ = "0.1.0"
