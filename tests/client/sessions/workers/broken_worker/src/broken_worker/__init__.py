"""A worker of tests: cannot begin to play."""
