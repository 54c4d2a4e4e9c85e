"""Agents that work together: who is in a team, and how learners share what they know."""
