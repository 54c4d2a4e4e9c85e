"""Finding workers, and describing them."""
