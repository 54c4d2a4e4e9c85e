"""An episode, or a range of its steps, as a file: MP4, GIF or JSONL."""
