"""The Beliefs tab: beliefs, goals and intentions of a BDI agent, live or at a replayed step."""
