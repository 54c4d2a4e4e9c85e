"""What surrounds the content: status strip, command palette, snackbar, welcome page."""
