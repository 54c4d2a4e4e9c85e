"""The TensorBoard tab: event files, tags, exports and servers."""
