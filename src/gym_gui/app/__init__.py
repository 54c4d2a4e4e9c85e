"""Start-up, wiring, main window, commands, settings and theme."""
