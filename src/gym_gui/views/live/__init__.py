"""The Live tab: what a running run does now."""
