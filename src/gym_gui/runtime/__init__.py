"""Everything that blocks (trainer link, tasks, streams), the ticker, and shared models."""
