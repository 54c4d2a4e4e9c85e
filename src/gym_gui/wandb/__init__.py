"""The W&B tab: online and offline runs of Weights & Biases."""
