"""Widgets that know no model of a room, and how they are painted."""
