"""A worker of tests: learns a number, saves it, and runs scripts of others."""
