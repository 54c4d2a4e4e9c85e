"""`mosaic envs`: which environments there are, and what installs the rest."""
