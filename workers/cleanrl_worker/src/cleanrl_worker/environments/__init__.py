"""Creating, wrapping, stepping and restoring the environments of a learner."""
