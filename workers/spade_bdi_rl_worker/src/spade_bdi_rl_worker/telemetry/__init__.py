"""What the worker tells while it works: episodes, figures, the table, and what the agent thinks."""
