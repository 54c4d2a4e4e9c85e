"""Teams of agents: their members and goals, and how learners share action values."""
