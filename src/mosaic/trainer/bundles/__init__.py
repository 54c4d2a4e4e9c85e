"""The workers' virtual environments."""
