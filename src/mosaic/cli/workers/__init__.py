"""`mosaic workers`: what can be trained with, and how to begin a worker of one's own."""
