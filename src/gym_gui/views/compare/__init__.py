"""Runs compared: curves over each other, their scores, and two replays in lock-step."""
