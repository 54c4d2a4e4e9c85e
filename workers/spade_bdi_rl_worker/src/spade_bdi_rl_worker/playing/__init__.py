"""From a saved table to an actor of the SDK's play loop."""
