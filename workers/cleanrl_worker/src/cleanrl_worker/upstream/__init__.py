"""A person's own CleanRL scripts, run unmodified, with what they print and write made telemetry."""
