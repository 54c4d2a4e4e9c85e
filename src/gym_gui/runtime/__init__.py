"""Everything that waits (trainer link, tasks, streams, ticker), and what several rooms need."""
