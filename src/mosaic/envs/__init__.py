"""The environment catalog: families, configuration fields, key maps, help."""
