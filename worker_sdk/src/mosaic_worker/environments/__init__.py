"""Making environments, and putting their spaces into words. gymnasium is imported when needed."""
