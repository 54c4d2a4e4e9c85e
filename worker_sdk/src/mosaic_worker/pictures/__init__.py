"""Pictures of environments that nobody plays, drawn in a helper process of the trainer daemon."""
