"""One algorithm per file; each is also a script."""
