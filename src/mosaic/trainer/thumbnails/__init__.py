"""Pictures of environments that nobody plays, drawn in the session worker's bundle by a helper
process of the SDK."""
