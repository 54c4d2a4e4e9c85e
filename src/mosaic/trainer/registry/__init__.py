"""RunRegistry: the daemon's database of runs.

One SQLite file, `trainer.db`. It may be lost: the daemon rebuilds it from the run directories.
"""
