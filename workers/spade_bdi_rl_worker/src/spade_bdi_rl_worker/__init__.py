"""A BDI agent that learns with tabular Q-learning, Double Q-learning or SARSA."""

__version__ = "0.1.0"
