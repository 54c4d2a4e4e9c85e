"""RunRegistry: the daemon's database of runs.

One SQLite file, `trainer.db`. It may be lost: the run directories are the truth, and the daemon
rebuilds it from them.
"""
