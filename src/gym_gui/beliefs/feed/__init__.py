"""Data that is fetched or streamed on threads."""
