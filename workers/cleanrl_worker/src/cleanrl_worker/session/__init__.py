"""What a learner talks to: numbers, episodes, checkpoints, and whether to go on."""
