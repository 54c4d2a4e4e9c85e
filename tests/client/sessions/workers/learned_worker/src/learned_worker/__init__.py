"""A worker of tests: plays with a policy that was saved."""
