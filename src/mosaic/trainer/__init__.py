"""The trainer daemon: starts, monitors and stops runs."""
