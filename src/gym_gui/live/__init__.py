"""The Live tab of a running run, and the tables of steps and episodes."""
