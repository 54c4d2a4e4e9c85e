"""`mosaic runs …`: one module for each kind of thing to do with runs."""
