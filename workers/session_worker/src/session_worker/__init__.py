"""A worker that runs an environment for a human, a policy, or both in turns."""

__version__ = "0.1.0"
