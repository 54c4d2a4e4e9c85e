"""`mosaic play`: a person in the terminal, or any actor without one."""
