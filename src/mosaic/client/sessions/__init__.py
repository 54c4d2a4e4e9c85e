"""Playing and watching runs from a program: sessions, and the actors that can act in them."""
