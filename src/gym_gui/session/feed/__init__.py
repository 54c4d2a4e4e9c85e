"""What is fetched or streamed, on threads."""
