"""`mosaic sweep`: search for good parameters, and look at what was found."""
