"""The step inspector: every field of one step."""
