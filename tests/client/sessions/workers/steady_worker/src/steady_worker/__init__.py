"""A worker of tests: plays with a policy of its own."""
