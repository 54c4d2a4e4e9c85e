"""Storage of a home besides runs: checkpoints, data sets, disk usage and pruning."""
