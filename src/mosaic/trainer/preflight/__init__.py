"""Whether a run can start here, and what to expect of it."""
