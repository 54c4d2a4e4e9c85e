"""The page of one run: what it is, how it went, what it left, and how to make it again."""
