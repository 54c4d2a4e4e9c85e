"""Tables on the disk: what is in a file, whether it fits an environment, and which are kept."""
