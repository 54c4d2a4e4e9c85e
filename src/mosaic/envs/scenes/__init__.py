"""What a grid or text environment looks like at one moment, made from its step alone."""
