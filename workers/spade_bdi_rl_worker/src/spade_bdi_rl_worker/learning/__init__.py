"""Learning with a table of action values: the table, the worlds, and how they are explored."""
