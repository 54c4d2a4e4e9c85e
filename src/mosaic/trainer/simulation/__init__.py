"""Simulates recorded episodes again, in a helper process that uses the bundle of their run."""
