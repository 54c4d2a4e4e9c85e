"""The daemon's process: one per home, its address, its token, its log."""
