"""From a checkpoint to an actor of the SDK's play loop."""
