"""Widgets only: build, bind one model, no input or output."""
