"""Tables of episodes and steps: a million rows, of which those in sight are painted."""
