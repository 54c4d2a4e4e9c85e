"""Finding workers and asking them what they are."""
