"""What starts, watches and ends runs."""
