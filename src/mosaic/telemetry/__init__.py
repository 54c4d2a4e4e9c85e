"""From a worker's spool to a run's store, and back out of the store to readers."""
