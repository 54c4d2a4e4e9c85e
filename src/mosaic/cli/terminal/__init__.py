"""Playing an environment in a terminal: keys in, text frames out."""
