"""A worker with single-file learners in the style of CleanRL; also runs CleanRL's own scripts."""

__version__ = "0.1.0"
