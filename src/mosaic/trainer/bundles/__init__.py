"""Bundles: the virtual environments of workers, and copies of their code."""
