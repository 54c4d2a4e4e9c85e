"""Creates and inspects environments. gymnasium is imported on first use."""
