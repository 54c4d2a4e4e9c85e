"""How windows, commands and notebooks talk to the trainer."""
