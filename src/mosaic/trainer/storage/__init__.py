"""What a home keeps besides the runs themselves, and how much of it: checkpoints, data sets."""
