"""A BDI agent that learns small worlds with a table of action values."""

__version__ = "0.1.0"
