"""Sessions: play, control and watch runs from a program, and the actors that can act in them."""
