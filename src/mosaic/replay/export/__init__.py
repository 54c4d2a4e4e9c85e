"""Export of an episode, or a range of its steps, to MP4, GIF or JSONL."""
