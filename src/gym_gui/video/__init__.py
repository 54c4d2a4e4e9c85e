"""The Video tab: a run's MP4 files."""
