"""The environments of the catalog, one module per family."""
