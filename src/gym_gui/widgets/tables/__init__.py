"""Tables for millions of rows: only visible rows are read and painted."""
