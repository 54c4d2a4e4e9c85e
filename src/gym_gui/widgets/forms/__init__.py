"""Forms that are generated from typed parameters."""
