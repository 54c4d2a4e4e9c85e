"""Small widgets that every part of the window is made of."""
