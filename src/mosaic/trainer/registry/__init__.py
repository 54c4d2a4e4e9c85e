"""RunRegistry: what the daemon remembers of every run.

One SQLite file, `trainer.db`. It can be lost: the run directories hold the truth, and the daemon
builds it again from them.
"""
