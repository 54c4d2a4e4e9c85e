"""Trainer link, task runner and pulse: everything that waits, off the UI thread."""
