"""What a home stores besides runs: checkpoints, data sets, disk usage and pruning."""
