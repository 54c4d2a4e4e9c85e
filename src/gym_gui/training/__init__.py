"""The training dock: the form of a worker, preflight, launch, and trained policies."""
