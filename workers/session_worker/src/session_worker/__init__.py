"""Hosts an environment: a person, an agent, or both in turns act in it."""

__version__ = "0.1.0"
