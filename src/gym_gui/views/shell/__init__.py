"""What the window has around its content: messages, command palette, status line, welcome."""
