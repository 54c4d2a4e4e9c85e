"""Any recorded episode back as frames, and out as MP4, GIF or JSONL."""
