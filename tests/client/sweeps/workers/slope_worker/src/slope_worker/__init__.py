"""A worker of tests: what it tells depends on its parameters alone."""
