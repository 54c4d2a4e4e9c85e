"""The Replay tab: episodes, picture, timeline and transport."""
