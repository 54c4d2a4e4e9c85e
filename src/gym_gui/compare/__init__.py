"""Runs compared: overlaid curves, scores, and two replays in lock-step."""
