"""RunRegistry: what the daemon remembers of every run."""
