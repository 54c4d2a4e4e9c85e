"""Tables of a million rows, of which the visible ones are painted."""
