"""The Beliefs tab: what an agent has in mind, now and at a replayed step."""
