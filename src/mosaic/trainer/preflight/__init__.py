"""Preflight: whether a run can start, and what to expect of it."""
