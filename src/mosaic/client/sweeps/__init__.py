"""What a sweep searches, how it is asked for, and what it has found."""
