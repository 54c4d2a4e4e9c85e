"""Ingests a worker's spool into the run's store, and reads the store."""
