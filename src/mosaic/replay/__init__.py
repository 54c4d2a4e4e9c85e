"""Replay of recorded episodes as frames, verification, and export to MP4, GIF and JSONL."""
