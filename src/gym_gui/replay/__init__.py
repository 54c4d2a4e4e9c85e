"""The Replay tab: episodes, frames, reward timeline, transport and exports."""
