"""The training dock."""
